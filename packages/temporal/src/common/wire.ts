import type {
  ChildOrder,
  ChildOut,
  EffectAnswer,
  EffectKind,
  EffectOrder,
  OpenedTurn,
  RowsOrder,
} from "trackside/loop";

/** What a workflow is started with. The rest is in the store: history carries references, not transcripts. */
export interface TurnArgs {
  readonly run_id: string;
  /** Of a sub-agent. */
  readonly child?: ChildOrder;
  /** Of a turn that goes on from a history which had become long. */
  readonly carried?: OpenedTurn;
}

/** How a turn ended, for whoever looks at the workflow, and for a parent. */
export interface TurnEnd {
  readonly status: string;
  readonly child?: ChildOut;
}

/** The effects that workers perform as activities of the same name. `child` and `sleep` are the workflow's own. */
export type PerformedKind = Exclude<EffectKind, "child" | "sleep">;

/** This worker lacks what the run needs: another one may have it. */
export interface Unable {
  readonly unable: string;
}

export type Activities = Record<PerformedKind, (order: EffectOrder) => Promise<EffectAnswer | Unable>> & {
  /** The turn as the store has it; null when it is over. */
  open(runId: string): Promise<OpenedTurn | Unable | null>;
  openChild(order: ChildOrder): Promise<OpenedTurn | ChildOut | Unable>;
  write(order: RowsOrder): Promise<ChildOut | Unable | null>;
  park(runId: string, why: ParkReason): Promise<void>;
};

export interface ParkReason {
  readonly message: string;
  readonly code: "diverged" | "recovery_failed";
}

/** Something was left for a run: a message, a decision, a cancel. */
export interface Heard {
  readonly cancelled?: string;
}

export const WORKFLOW = "trackside";
/** A worker that is gone in the middle of a loop's reaction is missed after this; a reaction takes milliseconds. */
export const WORKFLOW_TASK = "4 s";
export const HEARD = "heard";
/** Why an effect is to stop: asked by the worker that performs it. */
export const STOPPED = "stopped";
/** The type of failures that say: this run is to be parked. */
export const PARKED = "TracksideParked";

/** The type of failures that say: this run is no longer there. */
export const ERASED = "TracksideErased";

/** The workflow that a schedule starts: it has whatever is due started. */
export const SCHEDULE_WORKFLOW = "tracksideSchedule";

export interface ScheduleActivities {
  /** Starts what is due of a schedule. The store says what that is, so that once too often is not too often. */
  fireSchedule(id: string): Promise<void>;
}

/** What a schedule of ours is called on the server. */
export function temporalScheduleId(taskQueue: string, id: string): string {
  return `trackside.${taskQueue}.${id}`;
}

/** What runs of a task queue are marked with in the store. */
export function engineName(namespace: string, taskQueue: string): string {
  return `temporal:${namespace}/${taskQueue}`;
}
