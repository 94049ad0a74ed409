import type { RunRecord } from "../runs/run-record.ts";

export type PlanState = "active" | "superseded" | "completed" | "failed";
export type StepState = "pending" | "running" | "completed" | "failed" | "skipped";

/** A step as somebody wrote it. */
export interface PlannedStep {
  /** Letters, digits, `_` and `-`; one of its name in a plan. */
  readonly id: string;
  readonly title: string;
  readonly detail: string;
  /** Steps that have to be completed or skipped before it. What they gave is told to it. */
  readonly depends_on: readonly string[];
  /** What its output is judged by; "" where nobody judges it. */
  readonly criteria: string;
}

/** What is to be done: all of a plan that people write. */
export interface PlanContent {
  readonly goal: string;
  readonly steps: readonly PlannedStep[];
}

/** The same as it may be given: what is left out is empty. */
export interface PlanInput {
  readonly goal: string;
  readonly steps: readonly (Pick<PlannedStep, "id" | "title"> & Partial<PlannedStep>)[];
}

export interface Verification {
  readonly criteria: string;
  /** Null while it was not judged. */
  readonly verdict: "passed" | "failed" | null;
  /** Why, in the judge's words; or why it could not be judged. */
  readonly detail: string | null;
  /** The run that judged. */
  readonly run_id: string | null;
}

/** A step with what came of it. */
export interface PlanStep extends Omit<PlannedStep, "criteria"> {
  readonly state: StepState;
  readonly output: string | null;
  /** The output is longer: its run has the rest. */
  readonly cut: boolean;
  readonly verification: Verification;
  /** The run that did it, or does. */
  readonly run_id: string | null;
  /** While it is running: what of, and how its run is. */
  readonly phase: "work" | "verify" | null;
  readonly run_status: RunRecord["status"] | null;
  /** Somebody stopped it, and its run has not ended yet. */
  readonly stopping: boolean;
  /** How often it was begun. */
  readonly attempt: number;
  /** Why it failed, or was skipped. */
  readonly reason: string | null;
  /** Who began or skipped it last. */
  readonly by: string | null;
  readonly started_at: number | null;
  readonly ended_at: number | null;
}

/** A plan as it is now. */
export interface PlanRecord {
  readonly id: string;
  readonly tenant: string;
  readonly agent_id: string;
  /** Counted for the agent: every save of any plan of it is the next one. */
  readonly version: number;
  readonly state: PlanState;
  readonly goal: string;
  readonly origin: PlanOrigin;
  readonly note: string | null;
  readonly steps: readonly PlanStep[];
  readonly created_at: number;
  readonly updated_at: number;
  readonly updated_by: string;
}

/** Written by somebody, or by the agent's planner. */
export type PlanOrigin = "hand" | "generated";

/** One version, without what came of its steps. */
export interface PlanVersion extends PlanContent {
  readonly plan_id: string;
  readonly version: number;
  readonly state: PlanState;
  readonly origin: PlanOrigin;
  readonly note: string | null;
  readonly by: string;
  readonly created_at: number;
}

/** Who works on the plan of an agent. `waiting`: all that runs waits for an approval. */
export interface PlanWork {
  readonly state: "working" | "waiting" | "idle" | "stopped";
  /** What for: somebody wants all steps done, or the agent works by itself. */
  readonly mode: "all" | "autonomous" | null;
  /** Who started it, or stopped it. */
  readonly by: string | null;
  readonly at: number | null;
  readonly reason: string | null;
}

/** A plan that is being made by the agent's planner, or was. */
export interface PlanGeneration {
  readonly id: string;
  readonly goal: string;
  readonly state: "running" | "completed" | "failed";
  readonly run_id: string | null;
  readonly run_status: RunRecord["status"] | null;
  /** The version it became. */
  readonly version: number | null;
  /** Why it failed. */
  readonly reason: string | null;
  readonly by: string;
  readonly at: number;
}

/** Everything about the plans of an agent at one look. */
export interface PlanBoard {
  readonly agent: string;
  readonly agent_id: string;
  /** The active one, else the last there was. */
  readonly plan: PlanRecord | null;
  readonly work: PlanWork;
  readonly generation: PlanGeneration | null;
  /** Whether the agent works its plan by itself (W1), and who switched that on. Only stored agents can. */
  readonly autonomous: {
    readonly on: boolean;
    readonly available: boolean;
    readonly by: string | null;
    readonly at: number | null;
  };
  /** How many steps may run at once. */
  readonly parallel: number;
}
