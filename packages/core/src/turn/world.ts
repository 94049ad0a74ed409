import type { Failure } from "../schema/failure.ts";
import type { Outcome } from "../schema/run.ts";
import type { Call } from "../schema/tool.ts";
import type { TurnState } from "../schema/turn-state.ts";
import type { Usage } from "../schema/usage.ts";
import type { HookPoint, Verdict } from "../schema/verdict.ts";
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

  /** Runs one call, its PRE and POST rails included. Always leaves a paired result under the call's id. */
  tool(key: string, input: ToolInput): Promise<ToolOut>;

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

export interface DispatchInput {
  point: HookPoint;
  step: number;
  outcome?: Outcome;
}

export interface DispatchOut {
  verdict?: Verdict;
  /** A hook or rail stopped the run. */
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
  /** The request is the log up to here. */
  up_to: number;
  projection: string | null;
  tail: readonly string[];
  redo: TurnState["redo"];
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
  /** Present with `failure` when another attempt should be made. */
  again?: { choice: number; tries: number; in_ms: number };
  cancelled?: string;
  pre?: Verdict;
  post?: Verdict;
}

export interface ToolInput {
  step: number;
  message_id: string;
  call: Call;
  attempt: number;
}

export interface ToolOut {
  /** The result's message, recorded and ready to be logged. */
  message_id: string;
  /** The run must stop: a hook failed or a rail aborted. */
  fatal?: Failure;
  cancelled?: string;
  pre?: Verdict;
  post?: Verdict;
}

export interface BoundaryOut {
  inbox: readonly string[];
  cancelled?: string;
}
