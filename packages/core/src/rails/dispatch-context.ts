import { TracksideError } from "../errors.ts";
import type { Surroundings } from "../hooks/context.ts";
import type { Inputs } from "../hooks/inputs.ts";
import type { AgentDefinition } from "../schema/agent.ts";
import { frozenCopy, isJsonObject, type Json } from "../schema/json.ts";
import type { HookPoint } from "../schema/points.ts";
import { isPlain } from "../schema/preview.ts";
import type { Scope } from "../schema/run.ts";
import type { StateOperation } from "../schema/verdict.ts";
import type { RailQuestion, RailState, Reservation } from "./context.ts";
import { type Dispatch, type Entry, nameOf } from "./dispatch.ts";
import { applyOperations, stateProblem } from "./rail-state.ts";

/** What one of them looked at or wrote. */
class Own {
  readonly inputs: Inputs;
  view: object | undefined;
  state: RailState | undefined;
  extra: Record<string, unknown> | undefined;
  extraBefore: Record<string, unknown> | undefined;
  reservations = 0;
  operations: StateOperation[] | undefined;

  constructor(inputs: Inputs) {
    this.inputs = inputs;
  }
}

/**
 * What one hook or rail is given in one dispatch. Everything in it is made when it is read, so one that looks at nothing
 * costs nothing; and it closes when `handle` has returned, so that nothing changes behind the next one's back.
 */
export class DispatchContext implements Surroundings {
  readonly #dispatch: Dispatch;
  readonly #entry: Entry;
  /** What it looked at or wrote; most look at nothing, and one object less for each counts. */
  #own: Own | undefined;

  constructor(dispatch: Dispatch, entry: Entry) {
    this.#dispatch = dispatch;
    this.#entry = entry;
    this.#own = entry.rail?.mode === "shadow" ? new Own(dispatch.inputs.copy()) : undefined;
  }

  /** The data it is given: in shadow a copy. */
  get inputData(): Inputs {
    return this.#own?.inputs ?? this.#dispatch.inputs;
  }

  get operations(): readonly StateOperation[] | undefined {
    return this.#own?.operations;
  }

  get event(): HookPoint {
    return this.#open().point;
  }

  get inputs(): object {
    this.#open();
    const own = this.#mine();
    own.view ??= this.#makeView();
    return own.view;
  }

  get agent(): AgentDefinition {
    return this.#open().session.agent;
  }

  get scope(): Scope {
    return this.#open().session.scope;
  }

  get runId(): string {
    return this.#open().session.runId;
  }

  get turnRef(): string {
    return this.#open().session.turnRef;
  }

  get attempt(): number {
    return this.#open().session.attempt;
  }

  get signal(): AbortSignal {
    return this.#open().session.signal;
  }

  get idempotencyKey(): string {
    return this.#open().session.idempotencyKey;
  }

  get extra(): Record<string, unknown> {
    const { extra } = this.#open();
    const own = this.#mine();
    own.extraBefore ??= copyOf(extra);
    own.extra ??= this.#guarded(this.#inShadow ? own.extraBefore : extra);
    return own.extra;
  }

  get state(): RailState {
    this.#open();
    const own = this.#mine();
    own.state ??= this.#makeState(own);
    return own.state;
  }

  /** A getter, so that `({ reserve }) => …` works. */
  get reserve(): (counter: string, n: number, max: number) => Promise<Reservation> {
    return async (counter, n, max) => {
      const { session } = this.#open();
      const key = `${session.idempotencyKey}/${nameOf(this.#entry)}/${counter}/${this.#mine().reservations++}`;
      // What a rail in shadow takes is missing nowhere else.
      return session.reserve(key, this.#inShadow ? `shadow/${counter}` : counter, n, max);
    };
  }

  /** As `reserve`. */
  get model(): (question: RailQuestion) => Promise<string> {
    return async (question) => this.#open().session.ask(question);
  }

  /** Whose context this is. */
  get author(): string {
    return nameOf(this.#entry);
  }

  get changedAnything(): boolean {
    const own = this.#own;
    if (own === undefined) return this.#dispatch.inputs.dirty;
    return own.operations !== undefined || own.inputs.dirty;
  }

  /** Takes back what a failed rail wrote for the others. */
  undoExtra(): void {
    const before = this.#own?.extraBefore;
    if (before === undefined) return;
    const { extra } = this.#dispatch;
    for (const key of Object.keys(extra)) delete extra[key];
    Object.assign(extra, before);
  }

  #mine(): Own {
    this.#own ??= new Own(this.#dispatch.inputs);
    return this.#own;
  }

  get #inShadow(): boolean {
    return this.#entry.rail?.mode === "shadow";
  }

  /** The same object, out of reach once this one has returned. */
  #guarded(extra: Record<string, unknown>): Record<string, unknown> {
    const whileOpen =
      <A extends unknown[], R>(act: (...args: A) => R) =>
      (...args: A): R => {
        this.#open();
        return act(...args);
      };
    return new Proxy(extra, {
      get: whileOpen((all, key) => Reflect.get(all, key)),
      set: whileOpen((all, key, value) => Reflect.set(all, key, value)),
      deleteProperty: whileOpen((all, key) => Reflect.deleteProperty(all, key)),
    });
  }

  #open(): Dispatch {
    if (this.#dispatch.running === this) return this.#dispatch;
    const kind = this.#entry.rail === undefined ? "hook" : "rail";
    const what = `The ${kind} "${nameOf(this.#entry)}" used ctx at ${this.#dispatch.point} after it had returned.`;
    throw new TracksideError("hook_failed", `${what} Await everything that needs ctx before you return.`);
  }

  #makeView(): object {
    const inputs = this.inputData;
    const known = (field: PropertyKey): field is string =>
      typeof field === "string" && inputs.fields.includes(field);
    return new Proxy(
      {},
      {
        get: (_, field) => {
          this.#open();
          return known(field) ? inputs.read(field) : undefined;
        },
        set: (_, field, value) => {
          this.#open();
          inputs.write(String(field), value);
          return true;
        },
        deleteProperty: (_, field) => {
          throw new TypeError(`inputs.${String(field)} cannot be deleted; assign another value`);
        },
        has: (_, field) => known(field),
        ownKeys: () => inputs.fields,
        getOwnPropertyDescriptor: (_, field) =>
          known(field)
            ? { value: inputs.read(field), enumerable: true, configurable: true, writable: true }
            : undefined,
      },
    );
  }

  #makeState(own: Own): RailState {
    const dispatch = this.#dispatch;
    const { session } = dispatch;
    const values = () => applyOperations(session.state, [...dispatch.operations, ...(own.operations ?? [])]);
    const write = (given: StateOperation) => {
      this.#open();
      if (!isJsonObject({ [given.key]: given.value }))
        throw new TypeError(
          `ctx.state.${given.op}: a JSON value under a key other than __proto__ is expected`,
        );
      const next = [...(own.operations ?? []), frozenCopy({ ...given, by: this.author })];
      const problem = stateProblem(applyOperations(session.state, [...dispatch.operations, ...next]));
      if (problem !== undefined) throw new RangeError(problem);
      own.operations = next;
    };
    return {
      get: (key: string): Json | undefined => {
        this.#open();
        const all = values();
        return Object.hasOwn(all, key) ? all[key] : undefined;
      },
      set: (key, value) => write({ op: "set", key, value }),
      add: (key, amount) => write({ op: "add", key, value: amount }),
      append: (key, value) => write({ op: "append", key, value }),
    };
  }
}

/** A copy of plain objects and lists, all the way down. Anything else, such as a client or a function, is shared. */
function copyOf<T>(value: T, copies = new Map<unknown, unknown>()): T {
  if (typeof value !== "object" || value === null) return value;
  const known = copies.get(value);
  if (known !== undefined) return known as T; // a copy of this very value
  if (!Array.isArray(value) && !isPlain(value)) return value;
  const copy: object = Array.isArray(value) ? [] : {};
  copies.set(value, copy);
  for (const [key, inner] of Object.entries(value)) Reflect.set(copy, key, copyOf(inner, copies));
  return copy as T; // the same keys
}
