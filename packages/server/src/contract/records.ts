import { approval, durableEvent, liveEvent, message, run, usage } from "trackside/schema";
import * as z from "zod";
import { anything } from "./common.ts";

export const role = z.enum(["viewer", "operator", "approver", "admin"]);
export type Role = z.infer<typeof role>;

export const me = z.object({
  tenant: z.string(),
  user: z.object({ id: z.string(), name: z.string() }),
  role,
  via: z.enum(["session", "token"]),
  /** What the role allows. */
  may: z.array(z.enum(["read", "operate", "decide", "admin"])),
});

/** A definition as it is serialized (A1). Checked by the one schema of A3, whose problems come back as `issues`. */
export const definition = anything;

export const agentRecord = z.object({
  id: z.string(),
  name: z.string(),
  version: z.number().int(),
  digest: z.string(),
  definition,
  /** Beside the definition, not in it (W1). */
  autonomous_mode: z.boolean(),
  /** Agents of the configuration are read-only here. */
  source: z.enum(["stored", "code"]),
  created_at: z.number(),
  updated_at: z.number(),
  updated_by: z.string().nullable(),
});

export const agentRow = agentRecord.extend({
  last_run: z
    .object({ id: z.string(), status: run.unwrap().shape.status, created_at: z.number() })
    .nullable(),
  /** Of the last hundred runs that ended. */
  error_rate: z.number().nullable(),
  pending_approvals: z.number().int(),
});

export const versionRecord = z.object({
  version: z.number().int(),
  digest: z.string(),
  definition,
  autonomous_mode: z.boolean(),
  by: z.string(),
  note: z.string().nullable(),
  restored_from: z.number().int().nullable(),
  created_at: z.number(),
});

export const difference = z.object({
  path: z.string(),
  kind: z.enum(["added", "removed", "changed"]),
  before: z.unknown(),
  after: z.unknown(),
});

export const issue = z.object({
  path: z.string(),
  given: z.string(),
  allowed: z.string(),
  message: z.string(),
});

export const toolRecord = z.object({
  name: z.string(),
  description: z.string(),
  input_schema: anything,
  effect: z.enum(["none", "idempotent", "once"]),
  executor: z.enum(["server", "client"]),
  child_safe: z.boolean(),
  irreversible: z.boolean(),
});
/** A tool as the model sees it: with the injected arguments (T3). */
export const toolPreview = z.object({ name: z.string(), description: z.string(), input_schema: anything });

export const guardRecord = z.object({
  name: z.string(),
  description: z.string(),
  /** JSON Schema; null when the factory does not say. */
  options: anything.nullable(),
  points: z.array(z.string()).nullable(),
  priority: z.number().nullable(),
  /** Of hooks. */
  kind: z.enum(["pre", "member", "post", "stream", "point"]).nullable(),
});

export const serverRecord = z.object({
  name: z.string(),
  transport: z.enum(["stdio", "http"]),
  /** The command or the address, without secrets. */
  target: z.string(),
  /** As it goes into a definition; secrets by name. */
  config: anything,
});

export const modelRecord = z.object({
  model: z.string(),
  window: z.number().nullable(),
  output: z.number().nullable(),
  input_price: z.number().nullable(),
  output_price: z.number().nullable(),
});

export const providerRecord = z.object({
  name: z.string(),
  /** Where its key is from; null when there is none. The key itself is never sent. */
  key: z.enum(["stored", "environment", "config"]).nullable(),
  needs_key: z.boolean(),
  base_url: z.string().nullable(),
  updated_at: z.number().nullable(),
});
export const providerTest = z.object({
  ok: z.boolean(),
  model: z.string(),
  duration_ms: z.number(),
  /** Short, without keys or addresses beyond the one that was asked. */
  error: z.string().nullable(),
});

export const branchRecord = z.object({
  id: z.string(),
  conversation_id: z.string(),
  parent_id: z.string().nullable(),
  shared: z.number().int(),
  length: z.number().int(),
  active_run_id: z.string().nullable(),
  created_at: z.number(),
});
export const conversationRecord = z.object({
  id: z.string(),
  agent: z.string().nullable(),
  title: z.string().nullable(),
  created_at: z.number(),
  updated_at: z.number(),
  branches: z.array(branchRecord),
});

export const runRecord = run.unwrap().extend({
  branch_id: z.string(),
  root_run_id: z.string(),
  steps: z.number().int(),
  updated_at: z.number(),
  cancel_reason: z.string().nullable(),
  parked: z.string().nullable(),
});

/** What the detail page shows beside the record. */
export const runDetail = runRecord.extend({
  /** The definition it is pinned to (X2); null when it is gone. */
  definition: definition.nullable(),
  /** What the user said. */
  input: z.string(),
  /** How often an effect was begun again because its process died, by key. */
  recoveries: z.record(z.string(), z.number().int()),
  pending_approvals: z.array(z.string()),
  sub_agents: z.array(runRecord),
});

export const startedRun = z.object({
  run_id: z.string(),
  conversation_id: z.string(),
  /** When the message went to a run under way instead. */
  receipt: z.object({ id: z.string(), state: z.string(), run_id: z.string(), at: z.number() }).nullable(),
});
export const receipt = z.object({ id: z.string(), state: z.string(), run_id: z.string(), at: z.number() });

export const sentRequest = z.object({
  /** The same for every look at it. */
  key: z.string(),
  kind: z.enum(["step", "planner", "summary"]),
  step: z.number().int(),
  attempt: z.number().int(),
  path: z.array(z.string()),
  /** Who had the turn. */
  agent: z.string(),
  model: z.string(),
  system: z.string().nullable(),
  tools: z.array(toolPreview),
  messages: z.array(z.object({ role: z.enum(["user", "assistant", "tool"]), content: z.array(anything) })),
  max_output_tokens: z.number().optional(),
  temperature: z.number().optional(),
  output_schema: anything.optional(),
  estimate: z.number().optional(),
  usage: usage.nullable(),
  cache_prefix: z.object({ tokens: z.number(), broken_by: z.string().nullable() }).optional(),
  /** False when transient parts are gone (H4); `missing` says which. */
  complete: z.boolean(),
  missing: z.array(z.string()),
});

/** A durable or a live event (E1). */
export const event = z.union([durableEvent, liveEvent]);
export { approval, durableEvent, message };

export const approvalRecord = approval.extend({
  root_run_id: z.string(),
  /** Who started the run. */
  requested_by: z.string().nullable(),
  /** Where a node that waits is sent what it waits for. For whoever may decide. */
  webhook_url: z.string().optional(),
});

/** One approval with its evidence: what led here, and what happens on each choice. */
export const approvalDetail = approvalRecord.extend({
  agent: z.string(),
  run: runRecord,
  tool_description: z.string().nullable(),
  irreversible: z.boolean(),
  /** The last things said and done before it, oldest first. */
  context: z.array(durableEvent),
  /** Others of the same run, decided separately. */
  siblings: z.array(approvalRecord),
  /** What happens on each choice and at the deadline, in words. */
  consequences: z.record(z.string(), z.string()),
});

export const ruleRecord = z.object({
  id: z.string(),
  tool: z.string(),
  match: z.enum(["exact-arguments", "tool"]),
  effect: z.enum(["approve", "reject"]),
  agent: z.string().nullable(),
  by: z.string(),
  reason: z.string().nullable(),
  created_at: z.number(),
  until: z.number().nullable(),
  revoked_at: z.number().nullable(),
  /** The rule in words. */
  text: z.string(),
});

export const artifactRecord = z.object({
  id: z.string(),
  conversation_id: z.string(),
  run_id: z.string().nullable(),
  media_type: z.string(),
  bytes: z.number(),
  digest: z.string(),
  created_at: z.number(),
});

export const auditEntry = z.object({
  n: z.number().int(),
  at: z.number(),
  action: z.string(),
  by: z.string(),
  about: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  before: z.string().nullable(),
  after: z.string().nullable(),
  hash: z.string(),
  previous: z.string(),
});
export const auditReport = z.object({
  ok: z.boolean(),
  rows: z.number().int(),
  end: z.object({ n: z.number().int(), hash: z.string() }),
  problems: z.array(
    z.object({ n: z.number().int(), to: z.number().int().optional(), kind: z.string(), message: z.string() }),
  ),
});

export const statsBucket = z.object({
  from: z.number(),
  to: z.number(),
  runs: z.number().int(),
  completed: z.number().int(),
  errors: z.number().int(),
  cancelled: z.number().int(),
  input_tokens: z.number(),
  output_tokens: z.number(),
  /** Null while any part of it is unpriced. */
  cost: z.number().nullable(),
  latency_p50_ms: z.number().nullable(),
  latency_p95_ms: z.number().nullable(),
  /** Verdicts of rails other than continue, by action. */
  verdicts: z.record(z.string(), z.number().int()),
});
export const stats = z.object({
  from: z.number(),
  to: z.number(),
  buckets: z.array(statsBucket),
  now: z.object({
    running: z.number().int(),
    waiting: z.number().int(),
    parked: z.number().int(),
    pending_approvals: z.number().int(),
  }),
});

export const user = z.object({
  id: z.string(),
  name: z.string(),
  role,
  created_at: z.number(),
  updated_at: z.number(),
  disabled_at: z.number().nullable(),
  last_seen_at: z.number().nullable(),
  has_password: z.boolean(),
});
export const token = z.object({
  id: z.string(),
  name: z.string(),
  /** How it begins. */
  prefix: z.string(),
  role,
  user: z.object({ id: z.string(), name: z.string() }),
  created_at: z.number(),
  expires_at: z.number().nullable(),
  revoked_at: z.number().nullable(),
  last_used_at: z.number().nullable(),
});
