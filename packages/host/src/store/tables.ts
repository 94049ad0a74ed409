import type { Generated } from "kysely";

/**
 * Every table, as both databases have it. Columns are what queries look for; everything else is JSON in `body`, which
 * begins with its schema version in `v`, so that old rows always load (`rows/`). Times are Unix milliseconds, flags are 0
 * and 1, JSON is text.
 */
export interface Tables {
  /** Processes that run agents: one lease for each, not one for each run. */
  processes: ProcessesTable;
  /** Workers of distributed engines, and the agents they have (X9). */
  engine_workers: EngineWorkersTable;
  /** Who has what calls of one tree may not use at the same time, where that tree is on many machines (T5). */
  resources: ResourcesTable;
  /** One execution of a turn. */
  runs: RunsTable;
  /** Definitions that runs are pinned to, by digest. */
  definitions: DefinitionsTable;
  /** One row for each delivery: the truth of a run. Append-only, but for what H4 forgets at a run's end. */
  commits: CommitsTable;
  /** How far a tool with an effect that happens once has got, before its delivery (X3). */
  outcomes: OutcomesTable;
  approvals: ApprovalsTable;
  /** "Always allow this": a remembered decision. */
  approval_rules: ApprovalRulesTable;
  conversations: ConversationsTable;
  branches: BranchesTable;
  /** Messages sent to a run under way, until they are admitted (X6). */
  inbox: InboxTable;
  /** Client request ids, and what each one made (X10). */
  requests: RequestsTable;
  /** Counters of a run tree (R5). */
  reservations: ReservationsTable;
  /** Work for after a run's end (H7). */
  deferred: DeferredTable;
  artifacts: ArtifactsTable;
  /** Contents that are too large for one row. */
  artifact_pieces: ArtifactPiecesTable;
  audit: AuditTable;
  secrets: SecretsTable;
  /** Signed calls to other systems, until they are through. */
  webhooks: WebhooksTable;
  /** Digests of server tools' definitions that somebody approved (M5). */
  tool_definitions: ToolDefinitionsTable;
  /** Agents made at run time, each as it is now. */
  agents: AgentsTable;
  /** Every version of each of them. */
  agent_versions: AgentVersionsTable;
  /** Workflows made at run time, each as it is now (W4). */
  workflows: WorkflowsTable;
  /** Every version of each of them. */
  workflow_versions: WorkflowVersionsTable;
  /** People, and what each may do. */
  users: UsersTable;
  /** Browsers that are signed in. */
  sessions: SessionsTable;
  /** What programs show to be let in. */
  api_tokens: ApiTokensTable;
  /** Links that let somebody in once. */
  access_links: AccessLinksTable;
  /** Failed sign-ins, for as long as they slow the next one down. */
  sign_in_attempts: SignInAttemptsTable;
  /** Rows to wait at: whoever has written one is alone with what it names until the transaction ends. */
  access_locks: AccessLocksTable;
  /** First answers of requests that may come again. */
  answers: AnswersTable;
  /** Where providers are asked, if not where they usually are. */
  provider_addresses: ProviderAddressesTable;
  /** What happened outside the process that owns a run, for it to hear of. Hints: whoever reads one looks at the truth. */
  wakes: WakesTable;
  /** What starts agents, plans and workflows by the clock or by a webhook. */
  schedules: SchedulesTable;
  /** Each time one of them was due, and what came of it. */
  schedule_firings: ScheduleFiringsTable;
  /** What became of runs, in numbers: made from their rows, and could be made again. */
  run_stats: RunStatsTable;
  /** What agents are to do, as people manage it (W2): each plan as it is now. */
  plans: PlansTable;
  /** Every version of each of them. */
  plan_versions: PlanVersionsTable;
  /** What came of a plan's steps. A step that never ran has none. */
  plan_steps: PlanStepsTable;
  /** Who works on the plans of an agent, and what is being planned for it. */
  plan_work: PlanWorkTable;
}

export interface ToolDefinitionsTable {
  /** Tenant, server and tool. */
  key: string;
  digest: string;
  updated_at: number;
}

export interface ProcessesTable {
  id: string;
  /** The machine's name, for people. */
  host: string;
  /** Together with pid and start these say on the same machine whether it lives: boot id and PID namespace. */
  machine: string;
  pid: number;
  started: string;
  expires_at: number;
  created_at: number;
}

export interface EngineWorkersTable {
  engine: string;
  id: string;
  expires_at: number;
  /** JSON: the digest of what runs of each agent are pinned to, by name. */
  body: string;
}

export interface ResourcesTable {
  /** The run at the root of the tree. */
  tree: string;
  key: string;
  call: string;
  expires_at: number;
}

export interface RunsTable {
  id: string;
  tenant: string;
  agent: string;
  kind: string;
  /** queued, running, waiting, parked, completed, error, cancelled */
  status: string;
  conversation_id: string;
  branch_id: string;
  turn_ref: string;
  root_run_id: string;
  parent_run_id: string | null;
  retried_from: string | null;
  definition_digest: string;
  /** The stored agent it is of; null where its agent is in code. */
  agent_id: string | null;
  /** Who drives it: null for the processes that share this store, else a distributed engine by name (X9). */
  engine: string | null;
  /** The process that runs it; null when nobody does. */
  owner: string | null;
  /** Goes up with every claim: a writer with an older one is fenced off (X4). */
  fence: number;
  /** Why it is to be cancelled; null while it is not. */
  cancel_reason: string | null;
  created_at: number;
  updated_at: number;
  ended_at: number | null;
  /** JSON: scope, the user's message, log position, outcome, usage, what recoveries died in. */
  body: string;
}

export interface DefinitionsTable {
  digest: string;
  body: string;
}

export interface CommitsTable {
  run_id: string;
  ord: number;
  /** The last event's number once this row is in. */
  seq: number;
  /** JSON: key, result, messages, notes, begun, at, state. */
  body: string;
}

export interface OutcomesTable {
  run_id: string;
  key: string;
  /** JSON: it started, or what came of it. */
  body: string;
}

export interface ApprovalsTable {
  id: string;
  tenant: string;
  run_id: string;
  kind: string;
  state: string;
  tool: string | null;
  requested_at: number;
  deadline: number | null;
  decided_at: number | null;
  /** JSON: the whole record. */
  body: string;
}

export interface ApprovalRulesTable {
  id: string;
  tenant: string;
  tool: string;
  created_at: number;
  until: number | null;
  revoked_at: number | null;
  body: string;
}

export interface ConversationsTable {
  id: string;
  tenant: string;
  agent: string | null;
  created_at: number;
  updated_at: number;
  body: string;
}

export interface BranchesTable {
  id: string;
  conversation_id: string;
  tenant: string;
  /** Where it left another branch: that branch, and how many of its messages it shares. */
  parent_id: string | null;
  shared: number;
  /** How many messages its log has, the shared ones included. */
  length: number;
  /** The one run that may write to it (X7). */
  active_run_id: string | null;
  created_at: number;
  body: string;
}

export interface InboxTable {
  id: string;
  tenant: string;
  branch_id: string;
  /** The run it was sent to. */
  run_id: string;
  /** queued, admitted, next_turn, dropped */
  state: string;
  created_at: number;
  body: string;
}

export interface RequestsTable {
  tenant: string;
  request_id: string;
  /** start, send, steer, decide */
  operation: string;
  /** The id of what it made. */
  record_id: string;
  /** What was asked for, as a digest: the same id for something else is a mistake. */
  digest: string;
  created_at: number;
}

export interface ReservationsTable {
  root_run_id: string;
  key: string;
  counter: string;
  n: number;
  granted: number;
  used: number;
  max: number;
}

export interface DeferredTable {
  id: string;
  tenant: string;
  run_id: string;
  /** waiting, running, done, failed */
  state: string;
  owner: string | null;
  attempts: number;
  created_at: number;
  body: string;
}

export interface ArtifactsTable {
  id: string;
  tenant: string;
  conversation_id: string;
  run_id: string | null;
  media_type: string;
  bytes: number;
  digest: string;
  created_at: number;
  content: Uint8Array;
  /** The tools whose words are in it, as a JSON list; null when no tool's are. */
  sources: string | null;
}

export interface ArtifactPiecesTable {
  artifact_id: string;
  n: number;
  content: Uint8Array;
}

export interface AuditTable {
  tenant: string;
  n: number;
  at: number;
  /** What happened, such as approval.decided. */
  action: string;
  /** JSON: digests and ids, never content. */
  body: string;
  previous: string;
  hash: string;
}

export interface SecretsTable {
  tenant: string;
  name: string;
  key_id: string;
  nonce: Uint8Array;
  content: Uint8Array;
  updated_at: number;
}

export interface WebhooksTable {
  id: string;
  tenant: string;
  /** waiting, delivered, failed */
  state: string;
  attempts: number;
  next_at: number;
  created_at: number;
  body: string;
}

export interface WakesTable {
  n: Generated<number>;
  run_id: string;
  /** decided, cancel, inbox, queued */
  what: string;
  at: number;
}

export interface UsersTable {
  id: string;
  tenant: string;
  /** The name without upper and lower case: one user for each. */
  name_key: string;
  role: string;
  created_at: number;
  updated_at: number;
  disabled_at: number | null;
  last_seen_at: number | null;
  /** JSON: the name as written, the password's hash. */
  body: string;
}

export interface SessionsTable {
  /** SHA-256 of the secret. */
  digest: string;
  id: string;
  tenant: string;
  user_id: string;
  created_at: number;
  seen_at: number;
  /** When it is over whatever happens. */
  ends_at: number;
  /** When it is over if nobody comes. */
  expires_at: number;
}

export interface ApiTokensTable {
  /** SHA-256 of the secret. */
  digest: string;
  id: string;
  tenant: string;
  /** Whose it is. */
  user_id: string;
  role: string;
  created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
  revoked_at: number | null;
  /** JSON: name, the secret's first characters. */
  body: string;
}

export interface AccessLinksTable {
  /** SHA-256 of the secret. */
  digest: string;
  id: string;
  tenant: string;
  /** setup, open */
  purpose: string;
  user_id: string | null;
  created_at: number;
  expires_at: number;
}

export interface SignInAttemptsTable {
  /** A digest of whom it was tried for, or from where. */
  key: string;
  failures: number;
  locked_until: number;
  expires_at: number;
}

export interface AccessLocksTable {
  key: string;
  at: number;
}

export interface AgentsTable {
  id: string;
  tenant: string;
  /** One of a name in a tenant. */
  name: string;
  /** Goes up with every save: one with an older number is refused. */
  version: number;
  /** Of its definition. */
  digest: string;
  created_at: number;
  updated_at: number;
  /** JSON: the definition, what is beside it, who saved it last. */
  body: string;
}

export interface AgentVersionsTable {
  agent_id: string;
  n: number;
  tenant: string;
  digest: string;
  created_at: number;
  /** JSON: the definition, what is beside it, who saved it and why. */
  body: string;
}

export interface WorkflowsTable {
  id: string;
  tenant: string;
  /** One of a name in a tenant. */
  name: string;
  /** Goes up with every save: one with an older number is refused. */
  version: number;
  /** Of its definition. */
  digest: string;
  created_at: number;
  updated_at: number;
  /** JSON: the definition, who saved it last. */
  body: string;
}

export interface WorkflowVersionsTable {
  workflow_id: string;
  n: number;
  tenant: string;
  digest: string;
  created_at: number;
  /** JSON: the definition, who saved it and why. */
  body: string;
}

export interface RunStatsTable {
  run_id: string;
  tenant: string;
  agent: string;
  status: string;
  /** 0 for a sub-agent's: its usage is in its parent's. */
  is_root: number;
  created_at: number;
  ended_at: number;
  input_tokens: number;
  output_tokens: number;
  /** JSON: cost, verdicts. */
  body: string;
}

export interface PlansTable {
  id: string;
  tenant: string;
  /** A stored agent's id, or `code:` and the name of one in code. */
  agent_id: string;
  /** Counted for the agent, and goes up with every save: one with an older number is refused. */
  version: number;
  /** active, superseded, completed, failed */
  state: string;
  created_at: number;
  updated_at: number;
  /** JSON: goal, steps, who saved it last. */
  body: string;
}

export interface PlanVersionsTable {
  tenant: string;
  agent_id: string;
  n: number;
  plan_id: string;
  created_at: number;
  /** JSON: goal, steps, who saved it and why. */
  body: string;
}

export interface PlanStepsTable {
  plan_id: string;
  step_id: string;
  /** pending, running, completed, failed, skipped */
  state: string;
  /** How often it was begun. */
  attempt: number;
  /** The run that did it, or does. */
  run_id: string | null;
  /** Where its output is from: erased with it (X12). */
  conversation_id: string | null;
  updated_at: number;
  /** JSON: output, verification, who began it, what is under way. */
  body: string;
}

/** Whoever has written it in a transaction is alone with the plans of the agent until that ends. */
export interface PlanWorkTable {
  tenant: string;
  agent_id: string;
  /** 1 while somebody wants it done: all steps, or a plan made. */
  is_open: number;
  updated_at: number;
  body: string;
}

export interface AnswersTable {
  /** A digest of who asked under which key. */
  id: string;
  tenant: string;
  /** Of the request. */
  digest: string;
  /** Whoever does it, and until when they are taken to be at it. */
  claim: string;
  claimed_until: number;
  /** Null until it is answered. */
  status: number | null;
  created_at: number;
  expires_at: number;
  /** Encrypted JSON; null until it is answered, and again once it is erased. */
  body: string | null;
}

export interface ProviderAddressesTable {
  provider: string;
  base_url: string;
  updated_at: number;
}

export interface SchedulesTable {
  id: string;
  tenant: string;
  /** One of a name in a tenant. */
  name: string;
  /** Goes up with every save: one with an older number is refused. */
  version: number;
  /** 1 while it is on. */
  enabled: number;
  /** When it is due; null when it is off, or waits for a webhook. */
  next_at: number | null;
  created_at: number;
  updated_at: number;
  /** JSON: target, input, trigger, what to do about missed times, who made it. */
  body: string;
}

export interface ScheduleFiringsTable {
  schedule_id: string;
  /** The time it was due, or the delivery it came with: each is fired once. */
  key: string;
  tenant: string;
  scheduled_for: number;
  /** starting, started, skipped, missed, failed */
  state: string;
  run_id: string | null;
  /** Digest of what was signed, of a webhook. */
  proof: string | null;
  created_at: number;
  /** JSON: why, in whose name, and until it is started with what. */
  body: string;
}
