import type {
  Json,
  JsonObject,
  RailRecord,
  ToolOutput,
  ToolResultMetadata,
  UserPart,
} from "trackside/schema";

/** What a rail said, where it said more than "continue". */
export interface Verdict {
  readonly rail: string;
  readonly point: RailRecord["point"];
  readonly action: RailRecord["action"];
  readonly reason: string;
  readonly shadow: boolean;
  readonly alert?: string | undefined;
}

export interface TextItem {
  readonly kind: "text";
  /** The message's id: what a branch begins at. */
  readonly key: string;
  readonly text: string;
  /** Still being written. */
  readonly live: boolean;
  /** Cut off by a stop or a failure. */
  readonly partial: boolean;
  readonly attempt: number;
}

export interface ReasoningItem {
  readonly kind: "reasoning";
  readonly key: string;
  readonly messageId: string;
  readonly text: string;
  readonly live: boolean;
  readonly attempt: number;
}

export interface Asked {
  readonly id: string;
  readonly kind: string;
  readonly state: "pending" | "approved" | "rejected" | "timed_out" | "cancelled";
  readonly tool: string | null;
  readonly reasons: readonly string[];
  readonly deadline: number | null;
  readonly decidedBy: string | null;
}

export interface Progress {
  readonly offset: number;
  readonly attempt: number;
  readonly done: number;
  readonly total: number | null;
  readonly message: string | null;
}

export interface CallResult {
  readonly success: boolean;
  readonly output: ToolOutput;
  readonly error: string | null;
  readonly durationMs: number;
  readonly metadata: ToolResultMetadata;
}

/** A sub-agent that a call started: its run, in the order of its job. */
export interface Lane {
  readonly runId: string;
  readonly index: number;
  readonly outcome: "success" | "error" | null;
}

export interface CallItem {
  readonly kind: "call";
  /** The call's id. */
  readonly key: string;
  readonly messageId: string;
  readonly tool: string;
  /** Null while they are written, and where they did not parse. */
  readonly arguments: JsonObject | null;
  readonly injected: Readonly<Record<string, Json>>;
  /** What the model has written of the arguments so far. */
  readonly input: string;
  readonly live: boolean;
  readonly attempt: number;
  /** When the model asked for it; null while it writes and in what was read from the log. */
  readonly at: number | null;
  readonly progress: Progress | null;
  readonly asked: readonly Asked[];
  readonly verdicts: readonly Verdict[];
  readonly lanes: readonly Lane[];
  readonly result: CallResult | null;
}

/** What a user said while the run was under way, or what a hook put beside it. */
export interface SaidItem {
  readonly kind: "said";
  readonly key: string;
  readonly parts: readonly UserPart[];
  readonly receipt: string | null;
}

/** A line about the run itself, between what was said. */
export interface NoteItem {
  readonly kind: "note";
  readonly key: string;
  readonly tone: "quiet" | "attention" | "problem";
  readonly icon: "compacted" | "rail" | "handoff" | "retry" | "retracted" | "hook" | "resumed";
  readonly text: string;
  readonly detail: string | null;
}

/** A question that belongs to no call of the transcript: of a server, of a tool that changed. */
export interface AskedItem {
  readonly kind: "asked";
  /** The approval's id. */
  readonly key: string;
  readonly asked: Asked;
}

export type Item = TextItem | ReasoningItem | CallItem | SaidItem | NoteItem | AskedItem;

export type CallState =
  | "writing"
  | "running"
  | "waiting"
  | "done"
  | "failed"
  | "rejected"
  | "timed out"
  | "skipped"
  | "stopped";

/** The question of a call that is still open. */
export function openQuestion({ asked }: Pick<CallItem, "asked">): Asked | undefined {
  return asked.findLast(({ state }) => state === "pending");
}

export function callState(call: CallItem, isOver: boolean): CallState {
  const { result } = call;
  if (result !== null) return resultState(result);
  if (isOver) return "stopped";
  if (openQuestion(call) !== undefined) return "waiting";
  return call.live ? "writing" : "running";
}

function resultState({ success, output, metadata }: CallResult): CallState {
  if (metadata.skipped_by !== null) return "skipped";
  if (metadata.status === "rejected") return "rejected";
  if (metadata.status === "timed_out") return "timed out";
  const code = output.type === "error" ? output.failure.code : null;
  if (code === "cancelled" || code === "cancelled_unknown") return "stopped";
  return success ? "done" : "failed";
}
