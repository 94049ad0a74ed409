import type { PinnedAgent } from "../schema/agent.ts";
import type { TurnStart } from "../schema/turn-state.ts";
import type { Asked, CommitRow } from "./journal.ts";
import type { ChildInput } from "./world.ts";

/**
 * What goes between a loop that is in one place and its effects, which are in others. The loop numbers its rows; whoever
 * performs an effect writes down those it was given before it begins, and then what came of it. All of it is small JSON.
 */
export interface PlacedRow extends CommitRow {
  readonly ord: number;
  /** The number of the last event up to and with this row. */
  readonly seq: number;
}

/** An effect, for whoever performs it. */
export interface EffectOrder {
  readonly run_id: string;
  readonly asked: Asked;
  /** Where its result is to be written down. */
  readonly ord: number;
  readonly seq: number;
  /** Rows that may not have been written down yet. */
  readonly rows: readonly PlacedRow[];
  /** Every row before this is written down or among `rows`, save the results of effects that are `open`. */
  readonly up_to: number;
  readonly open: readonly number[];
  /** An earlier life of the loop had begun it, and nobody knows what came of it (X3). */
  readonly lost?: true;
  /** It is to stop at once: what is left of it is its answer. */
  readonly cancelled?: string;
}

export interface EffectAnswer {
  readonly result: unknown;
  /** Whoever performed it holds a tool under way: what follows is to be performed there, by this name. */
  readonly held_by?: string;
  /** With an ask: nobody has decided yet. */
  readonly pending?: { readonly deadline: number | null };
}

/** Rows to write down and nothing else: the turn is over, or its loop moves on. */
export interface RowsOrder {
  readonly run_id: string;
  readonly rows: readonly PlacedRow[];
  readonly up_to: number;
  readonly open: readonly number[];
}

/** A turn as its loop begins it, or goes on with it. */
export interface OpenedTurn {
  readonly agent: PinnedAgent;
  readonly turn: TurnStart;
  /** From the last checkpoint on. */
  readonly rows: readonly CommitRow[];
  /** The next row, and the last event. */
  readonly ord: number;
  readonly seq: number;
  /** Effects that were begun and not delivered. */
  readonly lost: readonly string[];
  /** The log leaves too little room for the turn: it begins by making some. */
  readonly crowded: boolean;
  /** Something was sent to it before it began. */
  readonly called: boolean;
  readonly cancelled?: string;
}

/** A sub-agent's turn: whose it is, and what for. */
export interface ChildOrder {
  /** Rows of whoever started it, which are written down before it begins. */
  readonly parent: RowsOrder;
  readonly input: ChildInput;
}
