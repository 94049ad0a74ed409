import type { LiveEvent } from "trackside/schema";
import type { Position } from "./cursor.ts";

/** Durable events up to `seq` can now be read from the store. */
export interface Committed {
  readonly type: "committed";
  readonly run_id: string;
  readonly seq: number;
}

/**
 * The owner of a run should look at the store: `what` says what at (a decision, a message to steer, a cancel). It may come
 * late, or again after a connection was lost.
 */
export interface Wake {
  readonly type: "wake";
  readonly run_id: string;
  readonly what: string;
}

/** Something on the way to this reader was lost: it reads the store, and shows what it has until then. */
export interface Gap {
  readonly type: "gap";
  readonly run_id: string;
}

export type BusItem = LiveEvent | Committed | Wake;

/**
 * What a run shows while it happens, to readers in this process and in others. The store is the truth: a bus may lose
 * everything it holds at any moment, and readers are no worse off than ones that only poll the store.
 */
export interface Bus {
  /**
   * Shows an item to the run's readers. Never blocks, waits or throws, whatever became of the network and however slow
   * the readers are.
   */
  publish(runId: string, item: BusItem): void;
  /**
   * First what is known of the run's open messages, so that a reader that comes in the middle of one misses nothing, then
   * what follows. With `from`, what a reader at this position already has is left out.
   */
  subscribe(runId: string, from?: Position): Subscription;
  /** The run has ended: what is kept of its messages goes away. Its readers stay until they close. */
  finish(runId: string): void;
  /** Ends every subscription, and whatever connects this process with others. */
  close(): Promise<void>;
}

/**
 * One reader of a run. It holds back nobody and costs nothing while it does not read: deltas that it has not read yet are
 * handed out joined, one for each message; of `committed` it gets the latest; the same `wake` twice is one.
 */
export interface Subscription extends AsyncIterableIterator<BusItem | Gap> {
  close(): void;
}

export interface BusLimits {
  /** Characters kept of a run's open messages. What is older is forgotten, and readers that missed it get a gap. */
  readonly maxChars: number;
  /** What a run shows is forgotten when nothing happened for this long. */
  readonly ttlMs: number;
}

export const DEFAULT_LIMITS: BusLimits = { maxChars: 262_144, ttlMs: 600_000 };
