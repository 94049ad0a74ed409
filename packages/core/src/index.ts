export type { StandardSchemaV1 } from "@standard-schema/spec";
export { Agent, type RunStream } from "./agent.ts";
export type { AgentConfig } from "./agent-config.ts";
export type { Registry } from "./bind-definition.ts";
export {
  type GuardRegistry,
  type HookAbout,
  type HookFactory,
  type HookSettings,
  type RailAbout,
  type RailFactory,
  type StreamHook,
  streamTransformer,
} from "./bind-guards.ts";
export {
  drop,
  REDUCERS,
  type Reducer,
  stubResults,
  summariseSteps,
  summariseTurns,
} from "./context/compaction/reducers.ts";
export type { Asking, SummaryRequest } from "./context/compaction/summarise.ts";
export type { View } from "./context/compaction/view.ts";
export { estimateMessage, estimateParts, estimateText } from "./context/estimate.ts";
export {
  costOf,
  factsOf,
  MODEL_TABLE,
  type ModelFacts,
  type ModelTable,
  requestBudget,
} from "./context/model-table.ts";
export {
  AgentConfigError,
  HookError,
  RailAbortError,
  RunCancelledError,
  RunError,
  TracksideError,
} from "./errors.ts";
export type { AgentEvent } from "./events.ts";
export type {
  HookContext,
  InvokeInputs,
  ModelCallInputs,
  ModelResponse,
  PointInputs,
  ToolCallInputs,
} from "./hooks/context.ts";
export { type Hook, HookManager } from "./hooks/hook-manager.ts";
export {
  type MemberHook,
  memberHook,
  type ParallelGroup,
  type PipelineContext,
  type PipelineOptions,
  type PostContext,
  type PostHook,
  type PreHook,
  parallel,
  postHook,
  preHook,
  type Task,
} from "./hooks/pipeline-hooks.ts";
export { type Content, cont, halt, type PipelineAnswer, regenerate, type Turn } from "./hooks/turn.ts";
export type { Approve, DecisionInput } from "./local/approvals.ts";
export type { AgentBinding, LanguageModel } from "./local/bound-agent.ts";
export type { ClientTool } from "./local/client-tools.ts";
export type { Clock } from "./local/clock.ts";
export { Conversation } from "./local/conversation.ts";
export {
  type Engine,
  type EngineOptions,
  localEngine,
  type Receipt,
  type StartedRun,
} from "./local/engine.ts";
export type { PromptCacheReport, PromptCacheRequest } from "./local/prompt-cache/report.ts";
export type { RunOptions, UserInput } from "./local/run-request.ts";
export type { RunResult } from "./local/run-result.ts";
export { type ReadInput, readWorkflowInput } from "./local/workflow-input.ts";
export type { RailContext, RailQuestion, RailState, Reservation } from "./rails/context.ts";
export { defineRail, Rail, type RailOptions, type RailReturn } from "./rails/rail.ts";
export { RailManager } from "./rails/rail-manager.ts";
export { abort, alert, ask, RailAction, RailVerdict, RetryRequest, retry, skip } from "./rails/verdicts.ts";
export { checkDefinition } from "./schema/check-definition.ts";
// Types of everything stored or sent; the schemas themselves are in `trackside/schema`, since building them takes time.
export type * from "./schema/index.ts";
export { KNOWN_PROVIDERS, parseModelString } from "./schema/model-string.ts";
export { HOOK_POINTS, HookPoint } from "./schema/points.ts";
export type { StreamTransformer, Transformed, TransformerFactory } from "./stream/transform.ts";
export type { SchemaLike } from "./tools/compile-schema.ts";
export {
  defineTool,
  describeTool,
  type ElicitAnswer,
  type ElicitRequest,
  type Tool,
  type ToolConfig,
  type ToolContext,
} from "./tools/define-tool.ts";
export { todoTools } from "./tools/todo.ts";
export { ToolFile, type ToolFileInit } from "./tools/tool-file.ts";
export type { ToolServers } from "./tools/tool-servers.ts";
export { defineWorkflow, Workflow, type WorkflowRegistry } from "./workflow.ts";
export type { WorkflowConfig, WorkflowNodeConfig, WorkflowNodes } from "./workflow-config.ts";
