import * as z from "zod";
import { anything, at, count, flag, id, name, page, several } from "./common.ts";
import type { EndpointName } from "./endpoints.ts";
import { json, userInput } from "./input.ts";
import { planShapes } from "./plans.ts";
import * as r from "./records.ts";
import { scheduleShapes } from "./schedules.ts";
import { workflowShapes } from "./workflows.ts";

/** What goes into an endpoint and comes out of it. Parts that are not there are empty. */
export interface Shape {
  readonly params?: z.ZodType;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  readonly answer?: z.ZodType;
}

const byId = z.object({ id });
const byName = z.object({ name });
const byProvider = z.object({ provider: name });
const paged = { after: z.string().optional(), limit: count(200, 50) };
const whenBusy = z.enum(["refuse", "steer", "queue"]).optional();
/** What a caller may add to the scope of a run. Tenant and user are the credential's own (H1). */
const scope = z.record(z.string(), json).optional();
const requestStatus = z.enum(["queued", "running", "waiting", "parked", "completed", "error", "cancelled"]);

export const shapes = {
  health: {
    answer: z.object({
      ok: z.boolean(),
      version: z.string(),
      store: z.string(),
      engine: z.string(),
      setup: z.boolean(),
    }),
  },
  openApi: { answer: anything },
  metrics: {},

  finishSetup: { body: z.strictObject({ link: z.string(), name, password: z.string() }), answer: r.me },
  signIn: {
    body: z.union([
      z.strictObject({ name, password: z.string(), tenant: name.optional() }),
      z.strictObject({ link: z.string() }),
    ]),
    answer: r.me,
  },
  signOut: {},
  me: { answer: r.me },

  listAgents: { query: z.object({ search: z.string().optional(), ...paged }), answer: page(r.agentRow) },
  createAgent: {
    body: z.strictObject({
      definition: r.definition,
      autonomous_mode: z.boolean().optional(),
      note: z.string().optional(),
    }),
    answer: r.agentRecord,
  },
  validateAgent: {
    body: z.strictObject({ definition: r.definition, name: name.optional() }),
    answer: z.object({ ok: z.boolean(), issues: z.array(r.issue) }),
  },
  previewAgent: {
    body: z.strictObject({ definition: r.definition }),
    answer: z.object({ tools: z.array(r.toolPreview) }),
  },
  importAgent: { body: r.definition, answer: r.agentRecord },
  getAgent: { params: byName, answer: r.agentRow },
  saveAgent: {
    params: byName,
    body: z.strictObject({
      definition: r.definition,
      autonomous_mode: z.boolean().optional(),
      /** The version that was edited: another one since then is a conflict. */
      version: z.number().int(),
      note: z.string().optional(),
    }),
    answer: r.agentRecord,
  },
  deleteAgent: { params: byName },
  cloneAgent: { params: byName, body: z.strictObject({ name }), answer: r.agentRecord },
  exportAgent: { params: byName, answer: r.definition },
  listVersions: { params: byName, answer: page(r.versionRecord) },
  getVersion: { params: z.object({ name, version: z.coerce.number().int() }), answer: r.versionRecord },
  diffVersions: {
    params: byName,
    query: z.object({ from: z.coerce.number().int(), to: z.coerce.number().int() }),
    answer: z.object({ from: r.versionRecord, to: r.versionRecord, differences: z.array(r.difference) }),
  },
  restoreVersion: {
    params: byName,
    body: z.strictObject({ restore: z.number().int(), version: z.number().int() }),
    answer: r.agentRecord,
  },

  ...workflowShapes,
  ...scheduleShapes,

  ...planShapes,

  listTools: { answer: page(r.toolRecord) },
  listRails: { answer: page(r.guardRecord) },
  listHooks: { answer: page(r.guardRecord) },
  listServers: { answer: page(r.serverRecord) },
  listModels: { answer: page(r.modelRecord) },

  listProviders: { answer: page(r.providerRecord) },
  setProvider: {
    params: byProvider,
    body: z.strictObject({
      api_key: z.string().min(1).max(4096).optional(),
      base_url: z.string().max(2048).nullable().optional(),
    }),
    answer: r.providerRecord,
  },
  deleteProviderKey: { params: byProvider },
  testProvider: {
    params: byProvider,
    body: z.strictObject({ model: z.string().optional() }),
    answer: r.providerTest,
  },

  listConversations: {
    query: z.object({ agent: name.optional(), ...paged }),
    answer: page(r.conversationRecord),
  },
  createConversation: {
    body: z.strictObject({ agent: name.optional(), title: z.string().max(500).optional() }),
    answer: r.conversationRecord,
  },
  importConversation: { body: z.strictObject({ lines: z.string() }), answer: r.conversationRecord },
  getConversation: { params: byId, answer: r.conversationRecord },
  deleteConversation: { params: byId },
  listMessages: { params: byId, answer: page(r.message) },
  sendMessage: {
    params: byId,
    body: z.strictObject({
      input: userInput,
      agent: name.optional(),
      when_busy: whenBusy,
      scope,
      queue: z.boolean().optional(),
    }),
    answer: r.startedRun,
  },
  createBranch: { params: byId, body: z.strictObject({ at: id }), answer: r.branchRecord },
  exportBranch: { params: byId },

  listRuns: {
    query: z.object({
      status: several(requestStatus).optional(),
      /** Of agents, or of workflows; of both unless given. */
      kind: z.enum(["agent", "workflow"]).optional(),
      /** The agent's name, or the workflow's. */
      agent: name.optional(),
      conversation: id.optional(),
      parent: id.optional(),
      /** Unix ms: created at or after, before. */
      from: at.optional(),
      to: at.optional(),
      /** The beginning or the end of a run's id, or words of its input. */
      search: z.string().max(200).optional(),
      ...paged,
    }),
    answer: page(r.runRecord),
  },
  startRun: {
    body: z.strictObject({
      agent: name,
      input: userInput,
      conversation: id.optional(),
      when_busy: whenBusy,
      scope,
      queue: z.boolean().optional(),
    }),
    answer: r.startedRun,
  },
  getRun: { params: byId, answer: r.runDetail },
  listEvents: {
    params: byId,
    query: z.object({ after: at.default(0), children: flag.optional(), limit: count(20_000, 20_000) }),
    answer: z.object({ items: z.array(r.durableEvent), next: z.number().nullable() }),
  },
  streamRun: { params: byId, query: z.object({ after: z.string().optional() }) },
  listRequests: { params: byId, query: z.object({ step: at.optional() }), answer: page(r.sentRequest) },
  cancelRun: {
    params: byId,
    body: z.strictObject({ reason: z.string().max(2000).optional() }),
    answer: r.runRecord,
  },
  steerRun: { params: byId, body: z.strictObject({ input: userInput }), answer: r.receipt },
  injectNote: { params: byId, body: z.strictObject({ input: userInput }), answer: r.receipt },
  resumeRun: { params: byId, answer: r.runRecord },
  retryRun: {
    params: byId,
    body: z.strictObject({
      from_step: z.number().int().min(1).optional(),
      /** Of a workflow: from this node on. What completed before it is not run again. */
      node: z.string().min(1).max(64).optional(),
    }),
    answer: r.runRecord,
  },
  exportRun: { params: byId, answer: anything },

  listApprovals: {
    query: z.object({
      state: z.enum(["pending", "approved", "rejected", "timed_out", "cancelled", "all"]).default("pending"),
      run: id.optional(),
      /** A run and its sub-agents. */
      tree: id.optional(),
      ...paged,
    }),
    answer: page(r.approvalRecord.extend({ agent: z.string(), irreversible: z.boolean() })),
  },
  streamApprovals: {},
  getApproval: { params: byId, answer: r.approvalDetail },
  decideApproval: {
    params: byId,
    body: z.strictObject({
      choice: z.string(),
      reason: z.string().max(10_000).optional(),
      response: json.optional(),
      edited_arguments: z.record(z.string(), json).optional(),
      remember: z
        .strictObject({
          until: z.number().nullable().optional(),
          match: z.enum(["exact-arguments", "tool"]).optional(),
          scope_keys: z.array(z.string()).optional(),
        })
        .optional(),
    }),
    answer: r.approvalRecord,
  },
  listRules: { query: z.object({ revoked: flag.optional() }), answer: page(r.ruleRecord) },
  revokeRule: { params: byId, body: z.strictObject({ reason: z.string().optional() }), answer: r.ruleRecord },

  listArtifacts: {
    query: z.object({ run: id.optional(), conversation: id.optional(), limit: count(200, 100) }),
    answer: page(r.artifactRecord),
  },
  getArtifact: { params: byId, answer: r.artifactRecord },
  readArtifact: { params: byId },

  listAudit: { query: z.object({ action: z.string().optional(), ...paged }), answer: page(r.auditEntry) },
  verifyAudit: { answer: r.auditReport },

  stats: {
    query: z.object({
      from: at.optional(),
      to: at.optional(),
      buckets: count(200, 60),
      agent: name.optional(),
    }),
    answer: r.stats,
  },

  listUsers: { answer: page(r.user) },
  createUser: {
    body: z.strictObject({ name, role: r.role, password: z.string().optional() }),
    answer: r.user.extend({ link: z.string().nullable() }),
  },
  updateUser: {
    params: byId,
    body: z.strictObject({
      role: r.role.optional(),
      password: z.string().optional(),
      disabled: z.boolean().optional(),
    }),
    answer: r.user,
  },
  deleteUser: { params: byId },
  listTokens: { answer: page(r.token) },
  createToken: {
    body: z.strictObject({
      name: z.string().min(1).max(100),
      role: r.role,
      expires_at: z.number().nullable().optional(),
    }),
    answer: r.token.extend({ secret: z.string() }),
  },
  revokeToken: { params: byId },
} as const satisfies Readonly<Record<EndpointName, Shape>>;

type Shapes = typeof shapes;
type In<N extends EndpointName, Part extends keyof Shape> = Shapes[N] extends {
  readonly [P in Part]: infer S extends z.ZodType;
}
  ? z.input<S>
  : undefined;

/** What a caller gives an endpoint. */
export type Request<N extends EndpointName> = {
  readonly [Part in "params" | "query" | "body" as In<N, Part> extends undefined ? never : Part]: In<N, Part>;
};
/** What an endpoint answers with. */
export type Answer<N extends EndpointName> = Shapes[N] extends { readonly answer: infer S extends z.ZodType }
  ? z.output<S>
  : undefined;
/** What a handler is given: read and checked. */
export type Read<N extends EndpointName, Part extends "params" | "query" | "body"> = Shapes[N] extends {
  readonly [P in Part]: infer S extends z.ZodType;
}
  ? z.output<S>
  : undefined;
