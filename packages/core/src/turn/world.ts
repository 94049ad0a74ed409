import type { ApprovalKind } from "../schema/approval.ts";
import type { Failure } from "../schema/failure.ts";
import type { HookPoint } from "../schema/points.ts";
import type { Outcome } from "../schema/run.ts";
import type { Call } from "../schema/tool.ts";
import type { TurnState } from "../schema/turn-state.ts";
import type { Usage } from "../schema/usage.ts";
import type { Verdict } from "../schema/verdict.ts";
import type { Note } from "./note.ts";

/**
 * Everything the loop may ask of the outside. A method takes a structural key and small JSON, and answers with small JSON:
 * positions and ids, never a transcript. It answers with a value, it never throws; a cancel is a value too. Results reach
 * the loop one at a time, the next only when the loop has run dry, live and in replay alike (X1).
 */
export interface World {
  /** Runs the hooks and rails of a point that belongs to no model or tool call: START, FINISHED, ERROR. */
  dispatch(key: string, input: DispatchInput): Promise<DispatchOut>;

  /** Makes one attempt at a model call, its PRE and POST rails included. What was withheld is not in the answer. */
  model(key: string, input: ModelInput): Promise<ModelOut>;

  /** Runs the turn pipeline: pre-hooks before the first model call, post-hooks on an answer. */
  hooks(key: string, input: HooksInput): Promise<HooksOut>;

  /** Runs one call, its PRE and POST rails included: leaves a paired result, or says what has to be decided first. */
  tool(key: string, input: ToolInput): Promise<ToolOut>;

  /** Asks a human and waits for the decision or the deadline, whichever comes first. */
  ask(key: string, input: AskInput): Promise<AskOut>;

  /** Waits. Answers early, with `cancelled`, when the run is cancelled. */
  sleep(key: string, ms: number): Promise<{ cancelled?: string }>;

  /** Between two steps, with nothing open: the place to checkpoint, to admit messages and to hear of a cancel. */
  boundary(state: TurnState): Promise<BoundaryOut> | undefined;

  /** The turn is over: the terminal status has been noted and nothing follows it. */
  end(state: TurnState): Promise<void> | undefined;

  /** Stops the effects whose key starts with `prefix`, begun or yet to begin; each still answers. Never waits. */
  cancel(prefix: string, reason: string): void;

  /** Records what happened, in order. Never waits, never fails. */
  note(note: Note): void;
}

/** A run's rail state, read at the start of an effect. */
type RailValues = TurnState["rails"];

export interface DispatchInput {
  point: HookPoint;
  step: number;
  attempt: number;
  rails: RailValues;
  /** With START: a message that was sent while the run was under way (X6). */
  steered?: string;
  outcome?: Outcome;
}

export interface DispatchOut {
  verdict?: Verdict;
  /** A message that stands in for what was skipped. */
  message_id?: string;
  /** A plain hook failed. */
  fatal?: Failure;
  cancelled?: string;
}

export interface HooksInput {
  phase: "pre" | "post";
  step: number;
  rails: RailValues;
  /** With `post`: the answer. */
  message_id?: string;
}

export interface HooksOut {
  halted?: { by: string; reason: string };
  regenerate?: { by: string; feedback: string };
  /** Durable parts, recorded and ready to be logged: before the user's message, or after the answer. */
  durable?: readonly string[];
  /** Transient parts of this turn's tail. */
  tail?: readonly string[];
  /** Members of a group that failed and were left out. */
  skipped?: readonly { hook: string; problem: string }[];
  fatal?: Failure;
  cancelled?: string;
}

export interface ModelInput {
  step: number;
  /** Counts every attempt at this step's call, whoever asked for it. */
  attempt: number;
  /** 0 is the agent's model, then its fallbacks. */
  choice: number;
  /** Attempts made with this choice so far. */
  tries: number;
  /** The request is the log up to here, with `tail` after the message at `tail_at`. */
  up_to: number;
  projection: string | null;
  tail: readonly string[];
  tail_at: number;
  redo: TurnState["redo"];
  rails: RailValues;
}

export interface ModelOut {
  /** Present when something was said: whole, or the part that had been shown before a failure or a cancel. */
  message_id?: string;
  model?: string;
  has_text?: boolean;
  has_reasoning?: boolean;
  partial?: boolean;
  calls?: readonly Call[];
  usage?: Usage;
  /** The answer does not fit the agent's output schema; says how. */
  invalid?: string;
  failure?: Failure;
  /** Another attempt should be made: after a `failure`, or because the process that made this one is gone (X3). */
  again?: { choice: number; tries: number; in_ms: number };
  cancelled?: string;
  /** Text was shown that is not what stands now. */
  retract?: string;
  /** A rail's skip stands in for the model. */
  skipped?: boolean;
  /** A transformer changed reasoning that the provider had signed: it does not go back to it (H8). */
  reasoning_dropped?: boolean;
  /** What the rails around it said, in order; those that passed without a word are only counted. */
  verdicts?: readonly Verdict[];
  passed?: number;
}

export interface ToolInput {
  step: number;
  message_id: string;
  call: Call;
  attempt: number;
  rails: RailValues;
  /** A decision on this call, made before. */
  decided?: AskOut;
  /** The decision is fresh: the call goes on where it waited. */
  resuming?: true;
}

export interface ToolOut {
  /** The result's message, recorded and ready to be logged; there too when a rail wants another attempt. */
  message_id?: string;
  /** What has to be decided before this call may run. */
  gate?: AskInput;
  /** It may not run again, whatever a rail says: it has an effect that happens once (R8). */
  exhausted?: boolean;
  /** The run must stop: a plain hook failed. */
  fatal?: Failure;
  cancelled?: string;
  verdicts?: readonly Verdict[];
  passed?: number;
}

/** A question to a human. What it is about stays with the call; this names it. */
export interface AskInput {
  approval_id: string;
  kind: ApprovalKind;
  call_id: string;
  tool: string;
  reasons: readonly string[];
  digest: string;
  requested_at: number;
  /** Null waits for ever. */
  deadline: number | null;
}

export interface AskOut {
  approval_id: string;
  status: "approved" | "rejected" | "timed_out";
  choice: string;
  digest: string;
  reason: string;
  decided_by: string;
  wait_ms: number;
  deadline: number | null;
  cancelled?: string;
}

export interface BoundaryOut {
  /** Messages that were sent meanwhile, recorded and ready to be admitted (X6). */
  inbox: readonly { message_id: string; receipt: string }[];
  cancelled?: string;
}
