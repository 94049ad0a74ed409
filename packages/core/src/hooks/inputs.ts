import { deepFreeze } from "../schema/json.ts";
import type { HookPoint } from "../schema/points.ts";
import { WRITABLE } from "./context.ts";

type Values = Readonly<Record<string, unknown>>;

const NONE: readonly never[] = Object.freeze([]);

/** A value that is made when somebody first reads it. */
export class Lazy {
  readonly make: () => unknown;

  constructor(make: () => unknown) {
    this.make = make;
  }
}

/** Says what is wrong with a changed value. */
export type CheckChange = (field: string, value: unknown) => string | undefined | Promise<string | undefined>;

/**
 * The data of one dispatch. Values are frozen and changed by assignment, so that undoing a change is taking back the old
 * value, and nobody can change what another one holds.
 */
export class Inputs {
  readonly point: HookPoint;
  readonly check: CheckChange | undefined;
  #values: Values;
  /** What was there before the one who is running changed anything, and what that was. */
  #before: Values | undefined;
  #changed: readonly string[] = NONE;
  #stands = false;

  constructor(point: HookPoint, values: Values, check?: CheckChange) {
    this.point = point;
    this.#values = values;
    this.check = check;
  }

  get fields(): string[] {
    return Object.keys(this.#values);
  }

  read(field: string): unknown {
    const value = this.#values[field];
    if (!(value instanceof Lazy)) return value;
    const made = value.make();
    this.#values = { ...this.#values, [field]: made };
    return made;
  }

  write(field: string, value: unknown): void {
    if (!WRITABLE[this.point]?.includes(field)) {
      const allowed = WRITABLE[this.point]?.map((name) => `\`${name}\``).join(", ") ?? "nothing";
      throw new TypeError(`inputs.${field} cannot be changed at ${this.point}; ${allowed} can`);
    }
    this.#before ??= this.#values;
    this.#changed = [...this.#changed, field];
    this.#values = { ...this.#values, [field]: deepFreeze(value) };
  }

  /** The next one is about to run: what is there now stands. */
  settle(): void {
    if (this.#before === undefined) return;
    this.#stands = true;
    this.#before = undefined;
    this.#changed = NONE;
  }

  /** Takes back what the one who is running changed. */
  undo(): void {
    if (this.#before === undefined) return;
    this.#values = this.#before;
    this.#before = undefined;
    this.#changed = NONE;
  }

  /** Whether any change stands. */
  get everChanged(): boolean {
    return this.#stands;
  }

  /** Whether anything was assigned since the last `settle`. */
  get dirty(): boolean {
    return this.#before !== undefined;
  }

  /** What was assigned since the last `settle`. */
  get changed(): readonly string[] {
    return this.#changed;
  }

  /** The same data for a rail in shadow. */
  copy(): Inputs {
    return new Inputs(this.point, this.#values, this.check);
  }
}
