import type { LogEntry, Outcome, Scope, Usage, UserMessage } from "trackside";
import type { ChildInput, CommitRow } from "trackside/loop";

/** A message in a row: itself, or where it is when it is large. */
export type StoredMessage = LogEntry | { readonly id: string; readonly artifact: string };

/** Work for after the run, as a row has it. */
export interface StoredTask {
  readonly task: string;
  readonly input: unknown;
}

/** One delivery at rest. */
export interface CommitBody extends CommitRow {
  readonly v: 1;
  readonly at: number;
  readonly messages?: readonly StoredMessage[];
  readonly deferred?: readonly StoredTask[];
  /** Of a row aside: `result` is what came of this effect, written down where it was performed (X9). */
  readonly answer?: { readonly key: string; readonly attempt: number; readonly held_by?: string };
}

/** What a run's row holds beside its columns. */
export interface RunBody {
  readonly v: 1;
  readonly scope: Scope;
  /** The message that opened it; null when it is too large and in the artifact store. */
  readonly user: UserMessage | { readonly id: string; readonly artifact: string };
  /** Position of the branch's log when it began. */
  readonly from: number;
  /** Of a child: where it is in the lineage. */
  readonly path?: readonly string[];
  readonly outcome: Outcome | null;
  readonly usage: Usage | null;
  readonly steps: number;
  /** How often an effect was begun again after its process died, by key. */
  readonly recoveries?: Readonly<Record<string, number>>;
  /** Processes it was taken from that were perhaps only frozen. */
  readonly previous_owners?: readonly string[];
  /** Of a child whose loop is elsewhere: what it was started with. */
  readonly job?: ChildInput;
  /** Where its trace goes on when another process takes it up. */
  readonly traceparent?: string;
  readonly parked?: { readonly code: "diverged" | "recovery_failed"; readonly message: string };
}

/** A tool with an effect that happens once, on its way (X3). */
export type OutcomeBody =
  | { readonly v: 1; readonly state: "started"; readonly at: number; readonly attempt?: number }
  | { readonly v: 1; readonly state: "ran"; readonly kept: unknown };

/** Rows that are part of the run's record and not of the loop's: they are skipped when it is replayed. */
export const ASIDE = "@aside";
