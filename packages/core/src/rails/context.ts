import type { HookContext } from "../hooks/context.ts";
import type { Json } from "../schema/json.ts";
import type { HookPoint } from "../schema/points.ts";

/** A run's rail state (R5): a snapshot to read, operations to write. It lives for the whole run, on every engine. */
export interface RailState {
  get(key: string): Json | undefined;
  set(key: string, value: Json): void;
  /** Adds to a number; one that is not there counts as 0. */
  add(key: string, amount: number): void;
  /** Adds to the end of a list; one that is not there counts as empty. */
  append(key: string, value: Json): void;
}

/** Whether a reservation was granted, and how much of the counter is taken now. */
export interface Reservation {
  readonly granted: boolean;
  readonly used: number;
  readonly max: number;
}

/** A question a rail asks a model. */
export interface RailQuestion {
  readonly prompt: string;
  readonly system?: string;
  /** `provider:model`; the agent's own unless given. */
  readonly model?: string;
  readonly maxTokens?: number;
}

interface RailOnly {
  /** Fresh for each dispatch, shared by its rails. */
  readonly extra: Record<string, unknown>;
  readonly state: RailState;
  /** The same for every time this dispatch is made. */
  readonly idempotencyKey: string;
  /**
   * Takes `n` of a counter of the whole run tree if that leaves it at or below `max`. Atomic, and counted once. A negative
   * `n` gives back, 0 only reads.
   */
  reserve(counter: string, n: number, max: number): Promise<Reservation>;
  /** Asks a model; its tokens count as the run's. */
  model(question: RailQuestion): Promise<string>;
}

/** What a rail is given: a union on `event`, so that `inputs` narrows without a cast. */
export type RailContext<P extends HookPoint = HookPoint> = HookContext<P> & RailOnly;
