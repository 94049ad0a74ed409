import type { Json } from "trackside";
import type { RunRecord, Trackside } from "../../src/index.ts";

export const TENANTS = ["default", "acme"] as const;
const MANY = 1_000;

export type Facts = Readonly<Record<string, Json>>;

/** Everything that can be read of a database through the public interface, by tenant. */
export async function factsOf(trackside: Trackside): Promise<Facts> {
  const facts: Record<string, unknown> = {};
  for (const tenant of TENANTS) facts[tenant] = await factsOfTenant(trackside, tenant);
  facts["providers"] = (await trackside.providers.list()).filter(({ name }) => name === "openai");
  return JSON.parse(JSON.stringify(facts)); // as it is stored: without what is undefined
}

async function factsOfTenant(trackside: Trackside, tenant: string): Promise<Record<string, unknown>> {
  const { runs, conversations, approvals, agents, workflows, plans, schedules, access } = trackside;
  const of = { tenant };
  const all = await allRuns(trackside, tenant);
  const talks = await conversations.list({ ...of, limit: MANY });
  const stored = await agents.list({ ...of, limit: MANY });
  const flows = await workflows.list({ ...of, limit: MANY });
  const artifacts = await trackside.artifacts.list({ ...of, limit: MANY });
  const timetable = await schedules.list({ ...of, limit: 100 });
  return {
    runs: await byId(all, async (run) => ({
      record: run,
      opening: await runs.opening(run.id, of),
      events: await runs.events(run.id, of),
      requests: await runs.requests(run.id, of),
      export: Object.keys(await runs.export(run.id, of)).sort(),
    })),
    conversations: await byId(talks, async (talk) => ({
      record: talk,
      branches: await byId(talk.branches, async ({ id }) => ({
        messages: await conversations.messages(id, of),
        export: (await conversations.export(id, of))
          .split("\n")
          .filter(Boolean)
          .map((line) => JSON.parse(line)),
      })),
    })),
    approvals: sorted(await approvals.list({ ...of, state: "all", limit: MANY })),
    rules: sorted(await approvals.rules({ ...of, revoked: true })),
    agents: await byId(stored, async (agent) => ({
      record: { ...agent, created_at: 0, updated_at: 0 }, // of an agent in code: when its process started
      versions: agent.source === "stored" ? await agents.versions(agent.name, of) : [],
      plans: { ...(await plans.board(agent.name, of)), versions: await plans.versions(agent.name, of) },
    })),
    workflows: await byId(flows, async (flow) => ({
      record: { ...flow, created_at: 0, updated_at: 0 },
      versions: flow.source === "stored" ? await workflows.versions(flow.name, of) : [],
    })),
    schedules: await byId(timetable, async (schedule) => ({
      record: schedule,
      history: await schedules.history(schedule.name, of),
    })),
    artifacts: await byId(artifacts, async ({ id, ...record }) => ({
      record,
      content: Buffer.from((await trackside.artifacts.get(id, of)).content).toString("base64"),
    })),
    users: sorted(await access.users.list(of)),
    tokens: sorted(await access.tokens.list({ ...of, revoked: true })),
    secrets: await trackside.secrets.list(tenant),
    stats: await trackside.stats.report({ ...of, from: 0, to: Number.MAX_SAFE_INTEGER, buckets: 1 }),
    figures: Object.fromEntries([...(await trackside.stats.agents(of))].sort()),
    audit: await trackside.audit.list({ ...of, limit: MANY }),
    chain: await trackside.audit.verify(of),
  };
}

/** Every run of a tenant with the runs below it. */
export async function allRuns({ runs }: Trackside, tenant: string): Promise<readonly RunRecord[]> {
  const found: RunRecord[] = [];
  const add = async (parent?: string) => {
    const filter = { tenant, limit: MANY, ...(parent === undefined ? {} : { parent }) };
    for (const run of await runs.list(filter)) {
      found.push(run);
      await add(run.id);
    }
  };
  await add();
  return found;
}

async function byId<T extends { readonly id: string }>(
  all: readonly T[],
  about: (one: T) => Promise<unknown>,
): Promise<Record<string, unknown>> {
  const entries: [string, unknown][] = [];
  for (const one of sorted(all)) entries.push([one.id, await about(one)]);
  return Object.fromEntries(entries);
}

function sorted<T extends { readonly id: string }>(all: readonly T[]): T[] {
  return [...all].sort((a, b) => (a.id < b.id ? -1 : 1));
}
