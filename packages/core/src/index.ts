export { Agent, type RunStream } from "./agent.ts";
export type { AgentConfig } from "./agent-config.ts";
export type { Registry } from "./bind-definition.ts";
export { AgentConfigError, HookError, RunCancelledError, RunError, TracksideError } from "./errors.ts";
export type { AgentEvent } from "./events.ts";
export type {
  HookContext,
  InvokeInputs,
  ModelCallInputs,
  PointInputs,
  ToolCallInputs,
} from "./hooks/context.ts";
export { type Hook, HookManager } from "./hooks/hook-manager.ts";
export type { AgentBinding, LanguageModel } from "./local/bound-agent.ts";
export type { Clock } from "./local/clock.ts";
export { Conversation } from "./local/conversation.ts";
export { type Engine, type EngineOptions, localEngine, type StartedRun } from "./local/engine.ts";
export { discoverLocal, type LocalServer } from "./local/providers/discover.ts";
export { type LoadedModel, loadModel } from "./local/providers/registry.ts";
export type { RunOptions, UserInput } from "./local/run-request.ts";
export type { RunResult } from "./local/run-result.ts";
export * from "./schema/index.ts";
export type { SchemaLike } from "./tools/compile-schema.ts";
export {
  defineTool,
  describeTool,
  type Tool,
  type ToolConfig,
  type ToolContext,
} from "./tools/define-tool.ts";
