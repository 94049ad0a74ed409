import type { AgentDefinition } from "../schema/agent.ts";
import type { Failure } from "../schema/failure.ts";
import type { Json, JsonObject } from "../schema/json.ts";
import type { AssistantMessage, Message } from "../schema/message.ts";
import type { Outcome, Scope } from "../schema/run.ts";
import type { ToolResultMetadata } from "../schema/tool.ts";
import type { Usage } from "../schema/usage.ts";
import type { HookPoint } from "../schema/verdict.ts";

/** Data for START, FINISHED and ERROR. */
export interface InvokeInputs {
  readonly input: string;
}

/** Data around a model call. `messages` are made when first read. */
export interface ModelCallInputs {
  readonly messages: readonly Message[];
  readonly tools: readonly { readonly name: string; readonly description: string }[];
}

/** Data around a tool call. `arguments` are what the tool will run with. */
export interface ToolCallInputs {
  readonly toolName: string;
  readonly arguments: JsonObject;
}

/** What each point carries (R3). */
export interface PointInputs {
  START: InvokeInputs & { readonly messages: readonly Message[] };
  FINISHED: InvokeInputs & { readonly result: Outcome };
  ERROR: InvokeInputs & { readonly error: Failure };
  PRE_LLM_CALL: ModelCallInputs;
  POST_LLM_CALL: ModelCallInputs & { readonly response: AssistantMessage; readonly usage: Usage };
  MODEL_ERROR: ModelCallInputs & { readonly error: Failure };
  PRE_TOOL_CALL: ToolCallInputs;
  POST_TOOL_CALL: ToolCallInputs & { readonly result: Json; readonly metadata: ToolResultMetadata };
  TOOL_ERROR: ToolCallInputs & { readonly error: Failure };
  HANDOFF: { readonly from: string; readonly to: string; readonly input: string };
  CONTEXT_WINDOW: {
    readonly messages: readonly Message[];
    readonly estimate: number;
    readonly limit: number;
  };
}

interface Common {
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
  [Point in P]: Common & { readonly event: Point; readonly inputs: PointInputs[Point] };
}[P];
