import { messageOf } from "../errors.ts";
import type { Surroundings } from "../hooks/context.ts";
import type { Inputs } from "../hooks/inputs.ts";
import { isJsonObject, type Json } from "../schema/json.ts";
import type { HookPoint } from "../schema/points.ts";
import { isThenable } from "../schema/thenable.ts";
import type { RailRecord, StateOperation } from "../schema/verdict.ts";
import type { RailQuestion, Reservation } from "./context.ts";
import { DispatchContext } from "./dispatch-context.ts";
import type { Rail } from "./rail.ts";
import type { StateValues } from "./rail-state.ts";
import { type RailVerdict, type RetryRequest, readReturn } from "./verdicts.ts";

export type AnyHook = (ctx: never) => unknown;

/** What runs at a point, in order: plain hooks as they were added, rails where their manager stands. */
export type Entry =
  | {
      readonly rail: Rail;
      readonly hook: undefined;
      /** After a handoff: its name with its agent's. */
      readonly as?: string;
    }
  | { readonly rail: undefined; readonly hook: AnyHook; readonly timeoutMs: number; readonly as?: undefined };

/** What a dispatch needs of its surroundings. The dispatcher is pure, so clock, counters and models are brought to it. */
export interface Session extends Surroundings {
  readonly idempotencyKey: string;
  readonly state: StateValues;
  now(): number;
  /** The same, roughly and for less. */
  roughly(): number;
  /** Somebody starts: call `expire` on the dispatch if this takes longer. */
  enter(timeoutMs: number): void;
  /** The dispatch is over; called once, with what it came to. */
  finished(outcome: Dispatched): void;
  reserve(key: string, counter: string, n: number, max: number): Promise<Reservation>;
  ask(question: RailQuestion): Promise<string>;
}

/** What a dispatch came to. */
export interface Dispatched {
  action: "continue" | "skip" | "retry" | "abort";
  rail: string | null;
  reason: string;
  retry: RetryRequest | undefined;
  replacement: Json | undefined;
  asks: readonly { rail: string; reason: string }[];
  records: readonly RailRecord[];
  operations: readonly StateOperation[];
  passed: number;
  /** A plain hook failed. */
  hookFailure: { hook: string; problem: string; cause: unknown } | undefined;
}

export const HOOK_TIMEOUT_MS = 30_000;
const ANONYMOUS = "(anonymous)";
const NONE: readonly never[] = Object.freeze([]);
/** Told apart from everything that can be thrown. */
const NOTHING = Symbol("nothing was thrown");
const NO_RETRY: readonly HookPoint[] = ["FINISHED", "ERROR"];

/**
 * One dispatch: every hook and rail of a point, one after another. The first verdict other than continue decides; later
 * rails do not run, later plain hooks do, and after an abort nobody does. A rail that throws, hangs or returns something
 * else fails closed.
 */
export class Dispatch implements Dispatched {
  readonly inputs: Inputs;
  readonly session: Session;
  action: Dispatched["action"] = "continue";
  rail: string | null = null;
  reason = "";
  retry: RetryRequest | undefined;
  replacement: Json | undefined;
  asks: Dispatched["asks"] = NONE;
  records: Dispatched["records"] = NONE;
  operations: Dispatched["operations"] = NONE;
  passed = 0;
  hookFailure: Dispatched["hookFailure"];
  readonly #entries: readonly Entry[];
  #extra: Record<string, unknown> | undefined;
  /** Goes up when whoever runs is given up: what that one does later no longer counts. */
  #life = 0;
  #at = 0;
  #running: DispatchContext | undefined;
  #startedAt = 0;
  /** Made once and used for every promise, until somebody is given up. */
  #whenReturned: ((returned: unknown) => void) | undefined;
  #whenThrown: ((error: unknown) => void) | undefined;

  constructor(entries: readonly Entry[], inputs: Inputs, session: Session) {
    this.#entries = entries;
    this.inputs = inputs;
    this.session = session;
  }

  /** Shared by the rails of this dispatch. */
  get extra(): Record<string, unknown> {
    this.#extra ??= {};
    return this.#extra;
  }

  get point(): HookPoint {
    return this.inputs.point;
  }

  /** Whose turn it is: a context is open as long as its owner runs. */
  get running(): DispatchContext | undefined {
    return this.#running;
  }

  run(): void {
    if (this.#life === 0) this.#from(0); // else it was stopped before it began
  }

  /** Whoever is running took too long. */
  expire(): void {
    const entry = this.#entries[this.#at];
    const running = this.#running;
    if (entry === undefined || running === undefined) return;
    this.#giveUp();
    if (entry.rail === undefined) {
      this.#failHook(entry, `timed out after ${entry.timeoutMs / 1000} s`, undefined);
      this.session.finished(this);
      return;
    }
    const over = this.#failRail(entry.rail, running, `timed out after ${entry.rail.timeoutMs} ms`);
    if (over) this.session.finished(this);
    else this.#from(this.#at + 1);
  }

  /** The run was cancelled: nobody waits for the rest. */
  stop(): void {
    this.#giveUp();
    this.session.finished(this);
  }

  #giveUp(): void {
    this.#life += 1;
    this.#running = undefined;
    this.#whenReturned = undefined;
    this.#whenThrown = undefined;
  }

  /** Runs them in order. Where one has to be waited for, it goes on from there when that one is done. */
  #from(start: number): void {
    const life = this.#life;
    for (let i = start; i < this.#entries.length; i++) {
      const entry = this.#entries[i];
      if (entry === undefined) break;
      const { rail } = entry;
      if (rail !== undefined && this.action !== "continue") continue; // decided; plain hooks may still follow
      this.#at = i;
      const ctx = new DispatchContext(this, entry);
      this.#running = ctx;
      this.#startedAt = this.session.roughly();
      this.session.enter(rail === undefined ? entry.timeoutMs : rail.timeoutMs);
      let returned: unknown;
      try {
        returned = rail === undefined ? entry.hook(ctx as never) : rail.handle(ctx as never); // a context of this point
        if (returned instanceof Promise || isThenable(returned)) {
          if (this.#life === life) this.#await(Promise.resolve(returned));
          return;
        }
      } catch (thrown) {
        if (this.#life === life) void this.#attend(entry, ctx, undefined, thrown);
        return;
      }
      if (this.#life !== life) return;
      if (!this.#passes(entry, ctx, returned)) {
        void this.#attend(entry, ctx, returned, NOTHING);
        return;
      }
    }
    this.session.finished(this);
  }

  #await(returning: Promise<unknown>): void {
    const life = this.#life;
    this.#whenReturned ??= (returned) => {
      if (this.#life !== life) return;
      const entry = this.#entries[this.#at];
      const ctx = this.#running;
      if (entry === undefined || ctx === undefined) return;
      if (this.#passes(entry, ctx, returned)) this.#from(this.#at + 1);
      else void this.#attend(entry, ctx, returned, NOTHING);
    };
    this.#whenThrown ??= (error) => {
      if (this.#life !== life) return;
      const entry = this.#entries[this.#at];
      const ctx = this.#running;
      if (entry !== undefined && ctx !== undefined) void this.#attend(entry, ctx, undefined, error);
    };
    returning.then(this.#whenReturned, this.#whenThrown);
  }

  /** It is done. True when it had nothing to say, as nearly all have. */
  #passes(entry: Entry, ctx: DispatchContext, returned: unknown): boolean {
    this.#running = undefined;
    if (returned !== undefined || ctx.changedAnything) return false;
    if (entry.rail !== undefined) this.passed += 1;
    return true;
  }

  /** It had something to say: hears it, and goes on unless that was the end. */
  async #attend(entry: Entry, ctx: DispatchContext, returned: unknown, error: unknown): Promise<void> {
    this.#running = undefined;
    const life = this.#life;
    const over =
      entry.rail === undefined
        ? await this.#afterHook(entry, returned, error)
        : await this.#afterRail(entry.rail, ctx, returned, error);
    if (this.#life !== life) return;
    if (over) this.session.finished(this);
    else this.#from(this.#at + 1);
  }

  /** A plain hook failed, returned something or changed its inputs. True when the dispatch is over. */
  async #afterHook(entry: Entry, returned: unknown, error: unknown): Promise<boolean> {
    let problem = error === NOTHING ? undefined : `failed: ${messageOf(error)}`;
    if (problem === undefined && returned !== undefined) {
      problem = "returned a value; a hook returns nothing. To skip, retry or abort, write a rail";
    }
    problem ??= await this.#changeProblem(this.inputs);
    if (problem === undefined) {
      this.inputs.settle();
      return false;
    }
    this.#failHook(entry, problem, error === NOTHING ? undefined : error);
    return true;
  }

  /** A rail did more than let it pass. True when the dispatch is over. */
  async #afterRail(rail: Rail, ctx: DispatchContext, returned: unknown, error: unknown): Promise<boolean> {
    if (error !== NOTHING) return this.#failRail(rail, ctx, `failed: ${messageOf(error)}`);
    const verdict = readReturn(returned);
    if (typeof verdict === "string") return this.#failRail(rail, ctx, verdict);
    const life = this.#life;
    const problem = misplaced(verdict, this.point) ?? (await this.#changeProblem(ctx.inputData));
    if (this.#life !== life) return true; // its time ran out while the change was checked
    if (problem !== undefined) return this.#failRail(rail, ctx, problem);
    return this.#accept(rail, ctx, verdict, rail.mode === "shadow");
  }

  #accept(rail: Rail, ctx: DispatchContext, verdict: RailVerdict | null, shadow: boolean): boolean {
    if (shadow) {
      if (verdict !== null) this.#record(rail, ctx, verdict.action, verdict.reason, verdict.alert);
      else if (ctx.changedAnything)
        this.#record(rail, ctx, "continue", "would have changed the inputs or state", undefined);
      else this.passed += 1;
      return false;
    }
    if (ctx.operations !== undefined) this.operations = [...this.operations, ...ctx.operations];
    const changed = [...new Set(this.inputs.changed)];
    this.inputs.settle();
    if (verdict === null) {
      if (changed.length > 0) this.#record(rail, ctx, "continue", `changed ${changed.join(", ")}`, undefined);
      else this.passed += 1;
      return false;
    }
    this.#record(rail, ctx, verdict.action, verdict.reason, verdict.alert);
    if (verdict.action === "continue") return false;
    if (verdict.action === "ask") {
      this.asks = [...this.asks, { rail: ctx.author, reason: verdict.reason }];
      return false;
    }
    this.action = verdict.action;
    this.rail = ctx.author;
    this.reason = verdict.reason;
    this.retry = verdict.retry;
    this.replacement = verdict.replacement;
    return verdict.action === "abort";
  }

  /** Fail closed (R10): what it changed is discarded and, unless it is an observer, the run is aborted in its name. */
  #failRail(rail: Rail, ctx: DispatchContext, problem: string): boolean {
    if (rail.mode !== "shadow") {
      this.inputs.undo();
      ctx.undoExtra();
    }
    this.#record(rail, ctx, rail.onError, problem, undefined);
    if (rail.mode === "shadow" || rail.onError === "continue") return false;
    this.action = "abort";
    this.rail = ctx.author;
    this.reason = problem;
    return true;
  }

  /** A failed hook fails the run (R10), whatever a rail of this dispatch has decided before it. */
  #failHook(entry: Entry, problem: string, cause: unknown): void {
    this.inputs.undo();
    this.action = "continue";
    this.rail = null;
    this.reason = "";
    this.retry = undefined;
    this.replacement = undefined;
    this.hookFailure = { hook: nameOf(entry), problem, cause };
  }

  async #changeProblem(inputs: Inputs): Promise<string | undefined> {
    if (inputs.changed.length === 0 || inputs.check === undefined) return undefined;
    for (const field of inputs.changed) {
      const problem = await inputs.check(field, inputs.read(field));
      if (problem !== undefined) return `set inputs.${field} to something that cannot be used: ${problem}`;
    }
    return undefined;
  }

  #record(
    rail: Rail,
    ctx: DispatchContext,
    action: RailRecord["action"],
    reason: string,
    alert: string | undefined,
  ): void {
    const now = this.session.now();
    const record: RailRecord = {
      rail: ctx.author,
      point: this.point,
      action,
      reason,
      attempt: this.session.attempt,
      duration_ms: Math.max(0, now - this.#startedAt),
      shadow: rail.mode === "shadow",
      ...(alert === undefined ? {} : { alert }),
    };
    this.records = [...this.records, record];
  }
}

/** A verdict that means nothing here. */
function misplaced(verdict: RailVerdict | null, point: HookPoint): string | undefined {
  if (verdict?.action === "ask" && point !== "PRE_TOOL_CALL")
    return `returned ask() at ${point}; only PRE_TOOL_CALL can be asked about`;
  if (verdict?.action === "retry" && NO_RETRY.includes(point))
    return `returned retry() at ${point}, where nothing can be repeated`;
  if (verdict?.replacement !== undefined && !isJsonObject({ replacement: verdict.replacement }))
    return "returned a replacement that is no JSON value";
  return undefined;
}

export function nameOf(entry: Entry): string {
  return entry.rail === undefined ? entry.hook.name || ANONYMOUS : (entry.as ?? entry.rail.name);
}
