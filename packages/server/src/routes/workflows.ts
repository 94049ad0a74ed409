import type { WorkflowRecord, WorkflowRow, WorkflowVersion, WorkflowVersionFacts } from "@trackside/host";
import type { Answer } from "../contract/index.ts";
import type { Context, Handlers } from "../http/handler.ts";
import { pageOf, whole } from "../http/page.ts";
import { scopeOf, tenantOf } from "../http/scope.ts";
import { workflowTemplates } from "../workflow-templates/index.ts";

export const workflowHandlers = {
  async listWorkflows({ query: { search, after, limit } }, context) {
    const filter = { ...(search === undefined ? {} : { search }), ...(after === undefined ? {} : { after }) };
    const found = await context.trackside.workflows.list({ ...tenantOf(context), ...filter, limit });
    return pageOf(found.map(rowOf), limit, ({ name }) => name);
  },

  async createWorkflow({ body: { definition, note } }, context) {
    return recordOf(await context.trackside.workflows.create(definition, authorOf(context, note)));
  },

  async validateWorkflow({ body: { definition, name } }, context) {
    const about = { ...tenantOf(context), name: name ?? null };
    const found = await context.trackside.workflows.validate(definition, about);
    return { ok: found.ok, issues: found.issues.map((issue) => ({ ...issue })) };
  },

  async importWorkflow({ query: { as }, body }, context) {
    const author = { ...authorOf(context), ...(as === undefined ? {} : { as }) };
    return recordOf(await context.trackside.workflows.import(body, author));
  },

  async listWorkflowTemplates() {
    return whole(workflowTemplates.map((template) => ({ ...template })));
  },

  async workflowCatalog(_input, context) {
    const { agents, tools, workflows, rails } = await context.trackside.workflows.catalog(tenantOf(context));
    return {
      agents: agents.map((agent) => ({ ...agent, output_schema: copyOf(agent.output_schema) })),
      tools: tools.map((tool) => ({
        name: tool.name,
        description: tool.description,
        input_schema: { ...tool.input_schema },
        output_schema: copyOf(tool.output_schema),
        effect: tool.effect,
        executor: tool.executor,
        child_safe: tool.child_safe,
        irreversible: tool.irreversible,
      })),
      workflows: workflows.map(({ name, source, description, input, output_schema }) => ({
        name,
        source,
        description,
        input: copyOf(input),
        output_schema: copyOf(output_schema),
      })),
      rails: rails.map(({ options, points, ...rail }) => ({
        ...rail,
        options: copyOf(options),
        points: points && [...points],
        kind: null,
      })),
    };
  },

  async getWorkflow({ params: { name } }, context) {
    const found = await context.trackside.workflows.get(name, tenantOf(context));
    return { ...recordOf(found), ...figuresOf(found) };
  },

  async saveWorkflow({ params: { name }, body: { definition, version, note } }, context) {
    const options = { ...authorOf(context, note), version };
    return recordOf(await context.trackside.workflows.save(name, definition, options));
  },

  async deleteWorkflow({ params: { name } }, context) {
    await context.trackside.workflows.delete(name, authorOf(context));
    return undefined;
  },

  async cloneWorkflow({ params: { name }, body }, context) {
    return recordOf(await context.trackside.workflows.clone(name, body.name, authorOf(context)));
  },

  async exportWorkflow({ params: { name } }, context) {
    return { ...(await context.trackside.workflows.export(name, tenantOf(context))) };
  },

  async listWorkflowVersions({ params: { name } }, context) {
    return whole((await context.trackside.workflows.versions(name, tenantOf(context))).map(factsOf));
  },

  async getWorkflowVersion({ params: { name, version } }, context) {
    return versionOf(await context.trackside.workflows.version(name, version, tenantOf(context)));
  },

  async diffWorkflowVersions({ params: { name }, query: { from, to } }, context) {
    const { workflows } = context.trackside;
    const scope = tenantOf(context);
    const [before, after, changes] = await Promise.all([
      workflows.version(name, from, scope),
      workflows.version(name, to, scope),
      workflows.diff(name, from, to, scope),
    ]);
    const differences = changes.map(({ path, kind, before: was = null, after: is = null }) => ({
      path,
      kind,
      before: was,
      after: is,
    }));
    return { from: versionOf(before), to: versionOf(after), differences };
  },

  async restoreWorkflowVersion({ params: { name, version: n }, body: { version } }, context) {
    const options = { ...authorOf(context), version };
    return recordOf(await context.trackside.workflows.restore(name, n, options));
  },

  async startWorkflow({ params: { name }, body: { input, scope, queue } }, context) {
    const { requestId } = context;
    const { runId } = await context.trackside.workflows.start(name, input, {
      scope: scopeOf(context, scope),
      ...(queue === undefined ? {} : { queue }),
      ...(requestId === undefined ? {} : { requestId }),
    });
    return { run_id: runId };
  },

  async submitWait({ params: { id }, query: { token }, body }, { trackside }) {
    const { state, decision } = await trackside.workflows.waits.submit(id, token, body);
    return { id, state, decided_at: decision?.at ?? 0 };
  },
} satisfies Partial<Handlers>;

function authorOf({ credential: { tenant, user } }: Context, note?: string) {
  return { tenant, by: user.name, ...(note === undefined ? {} : { note }) };
}

function headOf(workflow: WorkflowRecord) {
  const {
    id,
    name,
    version,
    digest,
    source,
    created_at,
    updated_at,
    updated_by,
    shadowed = false,
  } = workflow;
  return { id, name, version, digest, source, created_at, updated_at, updated_by, shadowed };
}

function recordOf(workflow: WorkflowRecord) {
  return { ...headOf(workflow), definition: { ...workflow.definition } };
}

type Figures = Pick<Answer<"getWorkflow">, "last_run" | "runs" | "failures" | "pending_approvals">;

function figuresOf({ last_run, runs, failures, pending_approvals }: WorkflowRow): Figures {
  const status = last_run?.status as NonNullable<Figures["last_run"]>["status"]; // as runs have it
  return { last_run: last_run && { ...last_run, status }, runs, failures, pending_approvals };
}

function rowOf(workflow: WorkflowRow): Answer<"listWorkflows">["items"][number] {
  const { description, nodes } = workflow.definition;
  return {
    ...headOf(workflow),
    ...figuresOf(workflow),
    description: typeof description === "string" ? description : "",
    nodes: Object.keys(nodes ?? {}).length,
  };
}

function factsOf({ n, name, digest, by, note, restored_from, created_at }: WorkflowVersionFacts) {
  return { version: n, name, digest, by, note, restored_from, created_at };
}

function versionOf(version: WorkflowVersion) {
  return { ...factsOf(version), definition: { ...version.definition } };
}

function copyOf<T extends object>(value: T | null): { [K in keyof T]: T[K] } | null {
  return value && { ...value };
}
