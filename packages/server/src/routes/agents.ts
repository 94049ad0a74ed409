import type { AgentFigures, AgentRecord, AgentVersion } from "@trackside/host";
import { parseModelString } from "trackside";
import { bindAgent } from "trackside/engine";
import type { Answer } from "../contract/index.ts";
import type { Context, Handlers } from "../http/handler.ts";
import { pageOf } from "../http/page.ts";
import { tenantOf } from "../http/scope.ts";

const NO_RUNS: AgentFigures = { last_run: null, error_rate: null, pending_approvals: 0 };

export const agentHandlers = {
  async listAgents({ query: { search, after, limit } }, context) {
    const { agents, stats } = context.trackside;
    const scope = tenantOf(context);
    const filter = { ...(search === undefined ? {} : { search }), ...(after === undefined ? {} : { after }) };
    const [found, figures] = await Promise.all([
      agents.list({ ...scope, ...filter, limit }),
      stats.agents(scope),
    ]);
    return pageOf(
      found.map((agent) => rowOf(agent, figures)),
      limit,
      ({ name }) => name,
    );
  },

  async createAgent({ body: { definition, autonomous_mode, note } }, context) {
    const input = { definition, ...(autonomous_mode === undefined ? {} : { autonomous_mode }) };
    return recordOf(await context.trackside.agents.create(input, authorOf(context, note)));
  },

  async validateAgent({ body: { definition } }, context) {
    const found = await context.trackside.agents.validate(definition, tenantOf(context));
    return { ok: found.ok, issues: found.issues.map((issue) => ({ ...issue })) };
  },

  async previewAgent({ body: { definition } }, { trackside }) {
    const agent = trackside.toolkit.bind(definition);
    const parsed = parseModelString(agent.definition.model);
    // What a run asks for: some providers want every argument required.
    const tools = bindAgent(agent).wireTools(parsed.ok ? parsed.provider : "") ?? [];
    return {
      tools: tools.map(({ name, description = "", inputSchema }) => ({
        name,
        description,
        input_schema: { ...inputSchema },
      })),
    };
  },

  async importAgent({ body }, context) {
    return recordOf(await context.trackside.agents.import(body, authorOf(context)));
  },

  async getAgent({ params: { name } }, context) {
    const { agents, stats } = context.trackside;
    const scope = tenantOf(context);
    const [agent, figures] = await Promise.all([agents.get(name, scope), stats.agents(scope)]);
    return rowOf(agent, figures);
  },

  async saveAgent({ params: { name }, body: { definition, autonomous_mode, version, note } }, context) {
    const input = { definition, ...(autonomous_mode === undefined ? {} : { autonomous_mode }) };
    const saved = await context.trackside.agents.save(name, input, { ...authorOf(context, note), version });
    return recordOf(saved);
  },

  async deleteAgent({ params: { name } }, context) {
    await context.trackside.agents.delete(name, authorOf(context));
    return undefined;
  },

  async cloneAgent({ params: { name }, body }, context) {
    return recordOf(await context.trackside.agents.clone(name, body.name, authorOf(context)));
  },

  async exportAgent({ params: { name } }, context) {
    return { ...(await context.trackside.agents.export(name, tenantOf(context))) };
  },

  async listVersions({ params: { name } }, context) {
    const { agents } = context.trackside;
    const scope = tenantOf(context);
    const facts = await agents.versions(name, scope);
    const items = await Promise.all(facts.map(({ agent_id, n }) => agents.version(agent_id, n, scope)));
    return { items: items.map(versionOf), next: null };
  },

  async getVersion({ params: { name, version } }, context) {
    return versionOf(await context.trackside.agents.version(name, version, tenantOf(context)));
  },

  async diffVersions({ params: { name }, query: { from, to } }, context) {
    const { agents } = context.trackside;
    const scope = tenantOf(context);
    const [before, after, changes] = await Promise.all([
      agents.version(name, from, scope),
      agents.version(name, to, scope),
      agents.diff(name, from, to, scope),
    ]);
    const differences = changes.map(({ path, kind, before: was = null, after: is = null }) => ({
      path,
      kind,
      before: was,
      after: is,
    }));
    return { from: versionOf(before), to: versionOf(after), differences };
  },

  async restoreVersion({ params: { name }, body: { restore, version } }, context) {
    const restored = await context.trackside.agents.restore(name, restore, { ...authorOf(context), version });
    return recordOf(restored);
  },
} satisfies Partial<Handlers>;

function authorOf({ credential: { tenant, user } }: Context, note?: string) {
  return { tenant, by: user.name, ...(note === undefined ? {} : { note }) };
}

function recordOf(agent: AgentRecord) {
  const { id, name, version, digest, definition, autonomous_mode, source, created_at, updated_at } = agent;
  return {
    id,
    name,
    version,
    digest,
    definition: { ...definition },
    autonomous_mode,
    source,
    created_at,
    updated_at,
    updated_by: agent.updated_by,
  };
}

type Row = Answer<"getAgent">;

function rowOf(agent: AgentRecord, figures: ReadonlyMap<string, AgentFigures>): Row {
  const { last_run, error_rate, pending_approvals } = figures.get(agent.name) ?? NO_RUNS;
  const status = last_run?.status as NonNullable<Row["last_run"]>["status"]; // as runs have it
  return {
    ...recordOf(agent),
    last_run: last_run && { ...last_run, status },
    error_rate,
    pending_approvals,
  };
}

function versionOf({
  n,
  digest,
  definition,
  autonomous_mode,
  by,
  note,
  restored_from,
  created_at,
}: AgentVersion) {
  return {
    version: n,
    digest,
    definition: { ...definition },
    autonomous_mode,
    by,
    note,
    restored_from,
    created_at,
  };
}
