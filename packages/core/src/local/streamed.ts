import type { Approval } from "../schema/approval.ts";
import type { DecisionInput } from "./approvals.ts";
import type { Receipt, StartedRun } from "./engine.ts";
import { EventQueue } from "./event-queue.ts";
import type { RunEvent } from "./run-context.ts";
import type { UserInput } from "./run-request.ts";
import type { RunResult } from "./run-result.ts";

/** A run as its starter reads it: events in order, and the ways to reach it. */
export interface Streamed extends AsyncIterable<RunEvent> {
  readonly runId: string;
  readonly turnRef: string;
  readonly result: Promise<RunResult<unknown>>;
  cancel(reason?: string): void;
  readonly pending: readonly Approval[];
  decide(approvalId: string, decision: DecisionInput): Promise<Approval>;
  steer(message: UserInput): Promise<Receipt>;
  inject(note: UserInput): Promise<Receipt>;
}

/** Starts a run and keeps its events for whoever reads them. Never throws: no engine's `start` does. */
export function streamed(start: (sink: (event: RunEvent) => void) => StartedRun): Streamed {
  const queue = new EventQueue<RunEvent>();
  const started = start((event) => queue.push(event));
  const { runId, turnRef, result } = started;
  const close = () => queue.close();
  result.then(close, close); // also marks a rejection nobody reads as handled
  return {
    runId,
    turnRef,
    result,
    cancel: (reason = "cancelled by the caller") => started.cancel(reason),
    get pending() {
      return started.pending;
    },
    decide: (approvalId, decision) => started.decide(approvalId, decision),
    steer: (message) => started.steer(message),
    inject: (note) => started.inject(note),
    [Symbol.asyncIterator]: () => queue,
  };
}
