import type { AgentDefinition } from "../schema/agent.ts";
import type { Failure } from "../schema/failure.ts";
import type { Json, JsonObject } from "../schema/json.ts";
import type { Message } from "../schema/message.ts";
import type { HookPoint } from "../schema/points.ts";
import type { Scope, StopReason } from "../schema/run.ts";
import type { ToolResultMetadata } from "../schema/tool.ts";
import type { Usage } from "../schema/usage.ts";

// What is not `readonly` below may be changed, by assignment: the values themselves are frozen (R4).

/** Data for START, FINISHED and ERROR. */
export interface InvokeInputs {
  readonly input: string;
}

/** Data around a model call. */
export interface ModelCallInputs {
  readonly messages: readonly Message[];
  readonly tools: readonly { readonly name: string; readonly description: string }[];
}

/** Data around a tool call. `arguments` are what the tool runs with. */
export interface ToolCallInputs {
  readonly toolName: string;
  readonly arguments: JsonObject;
}

/** What a model said. Calls may be left out or given other arguments, not added. */
export interface ModelResponse {
  readonly text: string;
  readonly toolCalls: readonly {
    readonly id: string;
    readonly toolName: string;
    readonly arguments: JsonObject | null;
  }[];
}

/** What each point carries (R3). */
export interface PointInputs {
  START: { input: string; readonly messages: readonly Message[]; readonly steered: boolean };
  FINISHED: InvokeInputs & { readonly result: { readonly text: string; readonly stopReason: StopReason } };
  ERROR: InvokeInputs & { readonly error: Failure };
  PRE_LLM_CALL: Omit<ModelCallInputs, "messages"> & { messages: readonly Message[] };
  POST_LLM_CALL: ModelCallInputs & { response: ModelResponse; readonly usage: Usage };
  MODEL_ERROR: ModelCallInputs & { readonly error: Failure };
  PRE_TOOL_CALL: Omit<ToolCallInputs, "arguments"> & { arguments: JsonObject };
  POST_TOOL_CALL: ToolCallInputs & { result: Json; readonly metadata: ToolResultMetadata };
  TOOL_ERROR: ToolCallInputs & { readonly error: Failure };
  HANDOFF: { readonly from: string; readonly to: string; readonly input: string };
  CONTEXT_WINDOW: { messages: readonly Message[]; readonly estimate: number; readonly limit: number };
}

/** The fields that may be assigned at each point. */
export const WRITABLE: Readonly<Partial<Record<HookPoint, readonly string[]>>> = {
  START: ["input"],
  PRE_LLM_CALL: ["messages"],
  POST_LLM_CALL: ["response"],
  PRE_TOOL_CALL: ["arguments"],
  POST_TOOL_CALL: ["result"],
  CONTEXT_WINDOW: ["messages"],
};

/** What is there at every point. */
export interface Surroundings {
  readonly agent: AgentDefinition;
  readonly scope: Scope;
  readonly runId: string;
  readonly turnRef: string;
  readonly attempt: number;
  /** Aborted when the run is cancelled. */
  readonly signal: AbortSignal;
}

/** What a hook is given: a union on `event`, so that `inputs` narrows without a cast. */
export type HookContext<P extends HookPoint = HookPoint> = {
  [Point in P]: Surroundings & { readonly event: Point; readonly inputs: PointInputs[Point] };
}[P];
