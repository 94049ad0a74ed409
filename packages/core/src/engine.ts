// For those who build engines: what a run is made of while it is under way, and the driver that replays a journal.
export { definitionJson } from "./bind-definition.ts";
export {
  type ApprovalDesk,
  type CheckDecision,
  decisionOf,
  readDecision,
  sameOrConflict,
} from "./local/approvals.ts";
export { MemoryArtifacts, refOf } from "./local/artifacts.ts";
export { attachedTo, refuseUnknown } from "./local/attachments.ts";
export { type BoundAgent, bindAgent } from "./local/bound-agent.ts";
export {
  answerOf,
  type ChildAnswer,
  type Children,
  childOut,
  NOT_BEGUN,
  openingOf,
  storedAnswer,
} from "./local/children.ts";
export { asWritten, madeAgain, withClientTools } from "./local/client-tools.ts";
export { systemClock, type Timer } from "./local/clock.ts";
export { conversationWith, Log, logOf } from "./local/conversation.ts";
export type { CounterDesk } from "./local/counters.ts";
export { digestOf, sha256 } from "./local/digest.ts";
export { dry } from "./local/dry.ts";
export { Effect } from "./local/effect.ts";
export { type DeferringRun, engineParts, refused } from "./local/engine.ts";
export { EventQueue } from "./local/event-queue.ts";
export { askApprover } from "./local/handlers/ask.ts";
export { decisionProblem } from "./local/handlers/decision-problem.ts";
export { handlers, perform } from "./local/handlers/index.ts";
export { type RebuiltRequest, rebuildRequest, rebuildSummary } from "./local/handlers/sent-request.ts";
export { newId } from "./local/ids.ts";
export type { Maybe } from "./local/maybe.ts";
export type { UsageNote } from "./local/prompt-cache/report.ts";
export { isCrowded } from "./local/request-size.ts";
export { type Claim, conflicts, type ResourceDesk } from "./local/resources.ts";
export {
  type Approver,
  type EngineParts,
  type Found,
  type KeptOutcome,
  type LateOutcome,
  RunContext,
  type RunEvent,
  type RunServices,
  type ToolKeeper,
} from "./local/run-context.ts";
export { type RunRequest, readMessage, readRequest } from "./local/run-request.ts";
export { failureFrom, resultOf } from "./local/run-result.ts";
export { isSentOnly } from "./local/sent-only.ts";
export { streamed } from "./local/streamed.ts";
export { type FindAgent, teamName, teamOf, workflowKey } from "./local/team.ts";
export { bindWorkflow, namesIn, workflowShell } from "./local/workflow-binding.ts";
export { planForExecutor } from "./planning/prompt.ts";
export { formatPath, issue } from "./schema/problems.ts";
export { type ArtifactDesk, type ArtifactRef, artifactId, type NewArtifact } from "./tools/artifact.ts";
export { compileSchema } from "./tools/compile-schema.ts";
export { defineServerTool, type ToolServer } from "./tools/define-tool.ts";
export { contentOf } from "./tools/text-content.ts";
export { fileOf, toOutput } from "./tools/to-output.ts";
export type {
  ConnectedTools,
  ConnectRequest,
  HeldTool,
  ServerDefinition,
  ToolServers,
  WithheldTool,
} from "./tools/tool-servers.ts";
export { NO_USAGE, start as startState } from "./turn/state.ts";
