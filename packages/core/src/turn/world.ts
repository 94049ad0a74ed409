import type { ApprovalKind } from "../schema/approval.ts";
import type { Prefix } from "../schema/durable-events.ts";
import type { Failure } from "../schema/failure.ts";
import type { JsonObject } from "../schema/json.ts";
import type { Plan } from "../schema/plan.ts";
import type { HookPoint } from "../schema/points.ts";
import type { Outcome } from "../schema/run.ts";
import type { Call } from "../schema/tool.ts";
import type { TurnState } from "../schema/turn-state.ts";
import type { Usage } from "../schema/usage.ts";
import type { Verdict } from "../schema/verdict.ts";
import type { Job } from "../subagents/jobs.ts";
import type { Note } from "./note.ts";

/**
 * Everything the loop may ask of the outside. A method takes a structural key and small JSON, and answers with small JSON:
 * positions and ids, never a transcript. It answers with a value, it never throws; a cancel is a value too. Results reach
 * the loop one at a time, the next only when the loop has run dry, live and in replay alike (X1).
 */
export interface World {
  /** Runs the hooks and rails of a point that belongs to no model or tool call: START, FINISHED, ERROR, HANDOFF. */
  dispatch(key: string, input: DispatchInput): Promise<DispatchOut>;

  /** Makes one attempt at a model call, its PRE and POST rails included. What was withheld is not in the answer. */
  model(key: string, input: ModelInput): Promise<ModelOut>;

  /** Runs the turn pipeline: pre-hooks before the first model call, post-hooks on an answer. */
  hooks(key: string, input: HooksInput): Promise<HooksOut>;

  /** Runs one call, its PRE and POST rails included: leaves a paired result, or says what has to be decided first. */
  tool(key: string, input: ToolInput): Promise<ToolOut>;

  /** Asks a human and waits for the decision or the deadline, whichever comes first. */
  ask(key: string, input: AskInput): Promise<AskOut>;

  /**
   * Makes room: CONTEXT_WINDOW rails, then the reducers (B4). Before a turn it answers undefined when there is room enough,
   * so that this costs nothing.
   */
  compact(key: string, input: CompactInput): Promise<CompactOut> | undefined;

  /** Connects the servers whose tools the agent has, before anything else. */
  equip(key: string, input: EquipInput): Promise<EquipOut>;

  /** Runs a sub-agent to its end, as a run of its own. */
  child(key: string, input: ChildInput): Promise<ChildOut>;

  /** Works out what a node of a workflow has to do, or what came of it, from what came before it (W4). */
  node(key: string, input: NodeInput): Promise<NodeOut>;

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

/** Who has the turn: null while it is the agent it was given to (S7). */
interface Acting {
  agent: string | null;
}

export interface DispatchInput extends Acting {
  point: HookPoint;
  step: number;
  attempt: number;
  rails: RailValues;
  /** With START: a message that was sent while the run was under way (X6). */
  steered?: string;
  outcome?: Outcome;
  /** With HANDOFF. */
  handoff?: Handover;
}

/** The turn goes to another agent, if rails let it. */
export interface Handover {
  from: string;
  to: string;
  reason: string;
  /** What the other one should do, if the conversation does not say so already. */
  input: string;
}

/** A handoff as a call asks for it. */
export interface HandoffWish extends Omit<Handover, "from"> {
  /** What was let through, where that is not what the model wrote. */
  ran_with?: JsonObject;
}

/** Why a turn is not handed over. */
export interface Refused {
  code: "rejected" | "cancelled";
  why: string;
  /** The rail that has it stay. */
  by?: string;
}

export interface DispatchOut {
  verdict?: Verdict;
  /** A message that stands in for what was skipped. */
  message_id?: string;
  /** A plain hook failed. */
  fatal?: Failure;
  cancelled?: string;
}

export interface HooksInput extends Acting {
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

export interface ModelInput extends Acting {
  step: number;
  /** Counts every attempt at this step's call, whoever asked for it. */
  attempt: number;
  /** 0 is the agent's model, then its fallbacks. */
  choice: number;
  /** Attempts made with this choice so far. */
  tries: number;
  /** The request is the log up to here, with `tail` after the message at `tail_at`. */
  up_to: number;
  tail: readonly string[];
  tail_at: number;
  /** After the tail: what the planner left. At the end: notes for this call only. */
  plan: string | null;
  notes: readonly string[];
  redo: TurnState["redo"];
  anchor: TurnState["anchor"];
  rails: RailValues;
  /** Room was made for this request, and why: if it is above the budget still, the run stops. */
  compacted?: Exclude<CompactInput["why"], "opening">;
  /** The planner's call: it goes on from the request with these messages of its own (P1). */
  planner?: readonly string[];
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
  /** With `usage`: what the request had in common with the one before it (H5). */
  prefix?: Prefix;
  /** How large the request was, by estimate. Only where somebody wants to know. */
  estimated?: number;
  /** The request is above the budget, and nothing was sent: room has to be made (B3). */
  over?: Room;
  /** The same, and there is no more room to be made: the message says so. */
  stopped?: true;
  /** The provider found the request too long (B5). */
  overflow?: true;
  /** What the planner said, and the message that tells the executor (P2). */
  plan?: { plan: Plan; message_id: string };
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
  /** Those at PRE_LLM_CALL changed the request: what was sent in its place (R4). */
  sent?: readonly SentPiece[];
  /** It failed or was cancelled before anything was sent. */
  unsent?: true;
  /** What the rails around it said, in order; those that passed without a word are only counted. */
  verdicts?: readonly Verdict[];
  passed?: number;
}

/**
 * A request that was changed on its way, piece by piece: messages of the request as it was asked for, `from` one of them
 * up to another; or, by its id within the run, a message that is in the run's record and in no log.
 */
export type SentPiece = readonly [from: number, to: number] | string;

/** Tokens: how many there are, and how many there may be. */
export interface Room {
  estimate: number;
  limit: number;
}

export interface CompactInput extends Acting {
  step: number;
  attempt: number;
  why: "opening" | "budget" | "overflow";
  /** The log up to here, of which this turn's opening is between `turn_at` and `tail_at`. */
  up_to: number;
  turn_at: number;
  tail_at: number;
  tail: readonly string[];
  plan: string | null;
  notes: readonly string[];
  redo: TurnState["redo"];
  anchor: TurnState["anchor"];
  rails: RailValues;
}

export interface CompactOut {
  /** The projection, recorded and ready to be logged. */
  message_id?: string;
  /** What was done, in order. */
  done?: readonly ContextChange[];
  usage?: Usage;
  model?: string;
  /** The model calls it took, as they were sent. */
  summaries?: readonly SentSummary[];
  verdicts?: readonly Verdict[];
  passed?: number;
  fatal?: Failure;
  cancelled?: string;
}

/** A request for a summary: its messages are in the run's record and in no log, the first being the system prompt. */
export interface SentSummary {
  model: string;
  messages: readonly string[];
  max_tokens: number;
  usage?: Usage;
}

export interface EquipInput {
  rails: RailValues;
}

export interface EquipOut {
  /** Tools that are not offered, and why. */
  withheld?: readonly string[];
  /** Tools whose definition changed since it was approved: somebody is asked, and the run goes on without them (M5). */
  held?: readonly {
    approval_id: string;
    tool: string;
    reasons: readonly string[];
    deadline: number | null;
  }[];
  failure?: Failure;
  cancelled?: string;
}

export interface ContextChange {
  action: "stubbed" | "summarised" | "dropped" | "replaced" | "skipped";
  tokens_before: number;
  tokens_after: number;
  detail: string;
}

export interface ChildInput extends Acting {
  /** The child's run: the same for every life of its parent. */
  run_id: string;
  call_id: string;
  /** Where it is in the lineage. */
  label: string;
  /** Of a sub-agent. */
  job?: Job;
  /** Of a workflow's node. */
  node?: NodeJob;
}

/** What a node's run is for: it is begun with one part of a message that the node has recorded. */
export interface NodeJob {
  node: string;
  message_id: string;
  part: number;
  /** It is a part of a map that is too long for one run. */
  chunk?: true;
}

export interface NodeInput {
  /** The node; null when they are all over and the workflow's own output is made. */
  node: string | null;
  /** `enter`: what is to be done. `settle`: what came of it. */
  doing: "enter" | "settle";
  attempt: number;
  /** Where the outputs are that it reads: messages by node. */
  from: Readonly<Record<string, string>>;
  /** With `settle`: its runs, the results of its calls, or what was decided. */
  children?: readonly ChildOut[];
  results?: readonly string[];
  decided?: AskOut;
  /** Each of its runs did a part of a map. */
  chunked?: true;
}

export interface NodeOut {
  /** With `enter`: what its runs are begun with, or the message its calls are in. Otherwise its output. */
  message_id?: string;
  /** The calls it makes. */
  calls?: readonly Call[];
  /** Its calls do what must not happen twice: it is not tried again. */
  once?: true;
  /** The way a condition goes. */
  port?: "true" | "false";
  /** Of a map: how many items, and into how many runs they are put where they are too many for this one. */
  items?: number;
  chunks?: number;
  /** With `settle` of a map: how many of them failed. */
  items_failed?: number;
  /** What has to be decided. */
  gate?: AskInput;
  /** How long to wait. */
  wait_ms?: number;
  failure?: Failure;
  cancelled?: string;
}

export interface ChildOut {
  run_id: string;
  status: "success" | "error";
  /** With `error`. */
  failure?: Failure;
  usage: Usage;
  /** A rail aborted: that ends the whole tree (R14). */
  aborted?: true;
  cancelled?: string;
}

export interface ToolInput extends Acting {
  step: number;
  message_id: string;
  call: Call;
  attempt: number;
  rails: RailValues;
  /** A decision on this call, made before. */
  decided?: AskOut;
  /** The decision is fresh: the call goes on where it waited. */
  resuming?: true;
  /** It is the planner's call. */
  planner?: true;
  /** The answer to what the running tool asked the person behind the run. */
  answered?: AskOut;
  /** What came of the children this call asked for. */
  children?: { results: readonly ChildOut[] } & Pick<Spawn, "started_at" | "ran_with">;
  /** The turn goes to another agent, or why it does not. */
  handed?: { to: string; refused?: Refused; ran_with?: JsonObject };
}

export interface ToolOut {
  /** The result's message, recorded and ready to be logged; there too when a rail wants another attempt. */
  message_id?: string;
  /** What was kept beside the result (T4). */
  artifacts?: readonly { artifact_id: string; call_id: string; media_type: string; bytes: number }[];
  /** What has to be decided before this call may run. */
  gate?: AskInput;
  /** The sub-agents it asks for. Their results come with the next round. */
  spawn?: Spawn;
  /** The agent it wants to hand the turn to. Whether that happens comes with the next round. */
  handoff?: HandoffWish;
  /** It came to an error; only a workflow wants to know. */
  failure?: Failure;
  /** It may not run again, whatever a rail says: it has an effect that happens once (R8). */
  exhausted?: boolean;
  /** The run must stop: a plain hook failed. */
  fatal?: Failure;
  cancelled?: string;
  verdicts?: readonly Verdict[];
  passed?: number;
}

export interface Spawn {
  jobs: readonly Job[];
  /** Whether they share the agent's slots. */
  limited: boolean;
  started_at: number;
  /** What it ran with, where that is not what the model wrote. */
  ran_with?: JsonObject;
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
  inbox: readonly InboxEntry[];
  cancelled?: string;
}

export interface InboxEntry {
  message_id: string;
  receipt: string;
  /** A note for the next model call, and no more. */
  once?: true;
}
