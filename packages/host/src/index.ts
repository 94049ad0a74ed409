export {
  Access,
  type AccessCode,
  type AccessLimits,
  type AccessLink,
  type AccessOptions,
  type ApiToken,
  allows,
  type Change,
  type Credential,
  type LinkFailure,
  mayGrant,
  type Need,
  type NewToken,
  type NewUser,
  ROLES,
  type Role,
  type Session,
  type SignedIn,
  type SignInFailure,
  type SignInInput,
  type Tokens,
  type User,
  type UserChange,
  type Users,
} from "./access/index.ts";
export {
  type AgentChange,
  type AgentInput,
  type AgentRecord,
  type Agents,
  type AgentVersion,
  type AgentVersionFacts,
  type Author,
  type HookDescription,
  type ListAgents,
  type McpServer,
  type RailDescription,
  type ServerDescription,
  type Toolkit,
  type ToolkitDescription,
  type ToolkitOptions,
  type Validation,
  VersionConflictError,
} from "./agents/index.ts";
export type { Answer, Answers, Asked, Asking } from "./answers/index.ts";
export type { DecideInput } from "./approvals/approvals.ts";
export type { InboxChange } from "./approvals/feed.ts";
export type { ApprovalRecord } from "./approvals/records.ts";
export type { ArtifactRecord, Artifacts } from "./artifacts/artifacts.ts";
export type { AuditAnchor, AuditEntry, AuditProblem, AuditReport } from "./audit/index.ts";
export {
  type Bus,
  type BusItem,
  type BusLimits,
  type Committed,
  type Cursor,
  CursorError,
  formatCursor,
  type Gap,
  type MessagePosition,
  memoryBus,
  type Position,
  parseCursor,
  type RedisBusOptions,
  RunReader,
  redisBus,
  type Subscription,
  type Wake,
} from "./bus/index.ts";
export type {
  BranchRecord,
  ConversationFilter,
  ConversationRecord,
  Conversations,
  SendOptions,
} from "./conversations/conversations.ts";
export {
  DurableEngine,
  type DurableOptions,
  type Elsewhere,
  type RunChange,
} from "./journal/durable-engine.ts";
export { checkUrl, guardedFetch, type UrlPolicy } from "./net/index.ts";
export {
  type PlanBoard,
  PlanConflictError,
  type PlanContent,
  type PlanGeneration,
  type PlanInput,
  type PlannedStep,
  type Planner,
  type PlanRecord,
  type PlanStep,
  type Plans,
  type PlanVersion,
  type PlanWork,
} from "./plans/index.ts";
export type { ProviderFacts, Providers, ProviderTest } from "./providers/index.ts";
export type { ApprovalRule } from "./rules/index.ts";
export type { StreamedEvent } from "./runs/events.ts";
export type { SentMessage, SentRequest, SentTool } from "./runs/requests.ts";
export type { RunRecord } from "./runs/run-record.ts";
export type { RunFilter, RunOpening, Runs } from "./runs/runs.ts";
export type {
  Delivery,
  Firing,
  ListSchedules,
  MirroredSchedule,
  Missed,
  Overlap,
  SavedSchedule,
  ScheduledElsewhere,
  ScheduleFields,
  ScheduleInput,
  ScheduleMirror,
  ScheduleRecord,
  Schedules,
  ScheduleTarget,
  ScheduleTrigger,
} from "./schedules/index.ts";
export {
  type Cipher,
  cipher,
  fileKeyring,
  type Key,
  type Keyring,
  keyring,
  keyringFromEnv,
  type SecretFacts,
  type Secrets,
} from "./secrets/index.ts";
export type { AgentFigures, StatsBucket, StatsQuery, StatsReport } from "./stats/stats.ts";
export {
  type Builder,
  type CommitEntry,
  type Operation,
  type PostgresOptions,
  postgres,
  type SqliteOptions,
  type Store,
  StoreError,
  type StoreFault,
  sqlite,
  type Work,
} from "./store/index.ts";
export type { TelemetryOptions } from "./telemetry/index.ts";
export {
  type ApprovalInbox,
  type AuditLog,
  type StartedTurn,
  type StartOptions,
  Trackside,
  type TracksideOptions,
} from "./trackside.ts";
export {
  type EndpointSecret,
  verifyWebhook,
  type WebhookEndpoint,
  type WebhookType,
} from "./webhooks/index.ts";
export type {
  CatalogAgent,
  CatalogWorkflow,
  ReadyWorkflow,
  StartedWorkflow,
  StartWorkflow,
  Waits,
  WorkflowBinding,
  WorkflowCatalog,
  WorkflowFigures,
  WorkflowRecord,
  WorkflowRow,
  Workflows,
  WorkflowVersion,
  WorkflowVersionFacts,
} from "./workflows/index.ts";
