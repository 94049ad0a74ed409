import * as z from "zod";
import { anything, count, id, name, page } from "./common.ts";
import { json } from "./input.ts";
import * as r from "./records.ts";

/** A workflow as JSON (W4). Checked by the one schema of code, HTTP and canvas, whose problems come back as `issues`. */
const definition = anything;

const facts = z.object({
  id: z.string(),
  name: z.string(),
  version: z.number().int(),
  digest: z.string(),
  /** Workflows of the configuration are read-only here. */
  source: z.enum(["stored", "code"]),
  created_at: z.number(),
  updated_at: z.number(),
  updated_by: z.string().nullable(),
  /** One in code has its name, and is the one that runs. */
  shadowed: z.boolean(),
});

export const workflowRecord = facts.extend({ definition });

const figures = {
  last_run: r.agentRow.shape.last_run,
  /** A hundred at most: the last ones. */
  runs: z.number().int(),
  /** How many of those ended with an error. */
  failures: z.number().int(),
  /** Of its runs and of all that is below them. */
  pending_approvals: z.number().int(),
};

/** In a list, where definitions would be too much. */
export const workflowRow = facts.extend({
  description: z.string(),
  /** How many. */
  nodes: z.number().int(),
  ...figures,
});
export const workflowDetail = workflowRecord.extend(figures);

const versionFacts = z.object({
  version: z.number().int(),
  name: z.string(),
  digest: z.string(),
  by: z.string(),
  note: z.string().nullable(),
  restored_from: z.number().int().nullable(),
  created_at: z.number(),
});
export const workflowVersion = versionFacts.extend({ definition });

/** What nodes may name, and what fits where: for pickers, and for checks before anything is saved. */
export const workflowCatalog = z.object({
  agents: z.array(
    z.object({
      name: z.string(),
      source: z.enum(["stored", "code"]),
      /** What its output is; null for a text. */
      output_schema: anything.nullable(),
    }),
  ),
  tools: z.array(r.toolRecord.extend({ output_schema: anything.nullable() })),
  workflows: z.array(
    z.object({
      name: z.string(),
      source: z.enum(["stored", "code"]),
      description: z.string(),
      /** What a run is started with; null for any object. */
      input: anything.nullable(),
      output_schema: anything.nullable(),
    }),
  ),
  rails: z.array(r.guardRecord),
});

export const workflowTemplate = z.object({
  /** A short name, the same for ever. */
  id: z.string(),
  title: z.string(),
  description: z.string(),
  definition,
});

const byName = z.object({ name });
const byVersion = z.object({ name, version: z.coerce.number().int() });
const note = z.string().max(2_000).optional();

/** What goes into the endpoints of workflows, and comes out. */
export const workflowShapes = {
  listWorkflows: {
    query: z.object({
      search: z.string().optional(),
      after: z.string().optional(),
      limit: count(200, 50),
    }),
    answer: page(workflowRow),
  },
  createWorkflow: { body: z.strictObject({ definition, note }), answer: workflowRecord },
  validateWorkflow: {
    body: z.strictObject({
      definition,
      /** The workflow it is to be a version of; left out, a new one, whose name must not be taken. */
      name: name.optional(),
    }),
    answer: z.object({ ok: z.boolean(), issues: z.array(r.issue) }),
  },
  importWorkflow: {
    /** `as`: another name than it was exported with. */
    query: z.object({ as: name.optional() }),
    body: definition,
    answer: workflowRecord,
  },
  listWorkflowTemplates: { answer: page(workflowTemplate) },
  workflowCatalog: { answer: workflowCatalog },
  getWorkflow: { params: byName, answer: workflowDetail },
  saveWorkflow: {
    params: byName,
    body: z.strictObject({
      definition,
      /** The version that was edited: another one since then is a conflict. */
      version: z.number().int(),
      note,
    }),
    answer: workflowRecord,
  },
  deleteWorkflow: { params: byName },
  cloneWorkflow: { params: byName, body: z.strictObject({ name }), answer: workflowRecord },
  exportWorkflow: { params: byName, answer: definition },
  listWorkflowVersions: { params: byName, answer: page(versionFacts) },
  getWorkflowVersion: { params: byVersion, answer: workflowVersion },
  diffWorkflowVersions: {
    params: byName,
    query: z.object({ from: z.coerce.number().int(), to: z.coerce.number().int() }),
    answer: z.object({ from: workflowVersion, to: workflowVersion, differences: z.array(r.difference) }),
  },
  restoreWorkflowVersion: {
    params: byVersion,
    /** The version that is there now: another one since then is a conflict. */
    body: z.strictObject({ version: z.number().int() }),
    answer: workflowRecord,
  },
  startWorkflow: {
    params: byName,
    body: z.strictObject({
      /** Checked against the workflow's `input`; nothing is started otherwise. */
      input: z.record(z.string(), json).default({}),
      scope: z.record(z.string(), json).optional(),
      /** Leave it to a worker instead of running it here. */
      queue: z.boolean().optional(),
    }),
    answer: z.object({ run_id: z.string() }),
  },
  submitWait: {
    params: z.object({ id }),
    /** As it is in the address of the wait. */
    query: z.object({ token: z.string().max(200) }),
    /** What is sent becomes the node's output. */
    body: json,
    answer: z.object({ id: z.string(), state: r.approval.shape.state, decided_at: z.number() }),
  },
} as const;
