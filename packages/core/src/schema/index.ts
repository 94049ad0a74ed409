import { agentSchemas } from "./agent.ts";

export { PLANNER_PROMPT } from "../planning/prompt.ts";
export {
  type Catalog,
  type CheckedWorkflow,
  checkWorkflow,
  type NodeOutput,
  outputOf,
} from "../workflows/check-workflow.ts";
export { mismatch, type SchemaAt, schemaAt } from "../workflows/schema-types.ts";
export { type Reference, referencesIn, referenceText } from "../workflows/template.ts";
export type { AgentDefinition, AgentDefinitionInput, PinnedAgent } from "./agent.ts";
/** An agent as JSON. */
export const { agentDefinition } = agentSchemas();
export {
  type Approval,
  type ApprovalKind,
  type ApprovalState,
  approval,
  type Decision,
  decision,
} from "./approval.ts";
export { checkDefinition } from "./check-definition.ts";
export { type DurableEvent, type DurableEventOf, durableEvent } from "./durable-events.ts";
export { type Failure, type FailureCode, failure } from "./failure.ts";
export type { Json, JsonObject } from "./json.ts";
export { type LiveEvent, type LiveEventOf, liveEvent } from "./live-events.ts";
export {
  type AssistantMessage,
  type FilePart,
  type Message,
  message,
  type ReasoningPart,
  type TextPart,
  type ToolMessage,
  type ToolOutput,
  type UserMessage,
  type UserPart,
  userMessage,
} from "./message.ts";
export { KNOWN_PROVIDERS, parseModelString } from "./model-string.ts";
export { type Plan, plan } from "./plan.ts";
export { HOOK_POINTS, HookPoint } from "./points.ts";
export type { ConfigIssue } from "./problems.ts";
export { type Cut, type LogEntry, logEntry, type Projection, projectionProblem } from "./projection.ts";
export { type Outcome, outcome, type Run, run, type Scope, type StopReason, scope } from "./run.ts";
export { sourcesIn, spoke } from "./sources.ts";
export {
  type ApprovalStatus,
  type Call,
  type ToolDescriptor,
  type ToolEffect,
  type ToolResultMetadata,
  toolDescriptor,
} from "./tool.ts";
export { type TurnStart, type TurnState, turnState } from "./turn-state.ts";
export { type Usage, usage } from "./usage.ts";
export { type RailRecord, type StateOperation, type Verdict, verdict } from "./verdict.ts";
export {
  COMPARISONS,
  type Comparison,
  type Condition,
  MOST_EDGES,
  MOST_ITEMS,
  MOST_NODES,
  NODE_KINDS,
  type NodeRetry,
  type WorkflowDefinition,
  type WorkflowDefinitionInput,
  type WorkflowEdge,
  type WorkflowNode,
  type WorkflowNodeOf,
  type WorkflowWork,
  workflowSchemas,
} from "./workflow.ts";
