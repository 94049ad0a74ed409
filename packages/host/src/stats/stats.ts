import type { DurableEngine } from "../journal/durable-engine.ts";
import { DEFAULT_TENANT } from "../runs/runs.ts";
import { type Builder, type Operation, rows, type Store } from "../store/store.ts";
import type { RunStatsTable } from "../store/tables.ts";
import { countRuns, statsBody, uncounted } from "./run-stats.ts";

export interface StatsBucket {
  readonly from: number;
  readonly to: number;
  /** Runs that were started in it and have ended. */
  readonly runs: number;
  readonly completed: number;
  readonly errors: number;
  readonly cancelled: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** Null when any part of it is unpriced. */
  readonly cost: number | null;
  readonly latency_p50_ms: number | null;
  readonly latency_p95_ms: number | null;
  /** What rails said other than continue, sub-agents' included, by action. */
  readonly verdicts: Readonly<Record<string, number>>;
}

export interface StatsReport {
  readonly from: number;
  readonly to: number;
  readonly buckets: readonly StatsBucket[];
  readonly now: {
    readonly running: number;
    readonly waiting: number;
    readonly parked: number;
    readonly pending_approvals: number;
  };
}

export interface StatsQuery {
  readonly tenant?: string;
  readonly agent?: string;
  readonly from: number;
  readonly to: number;
  readonly buckets: number;
}

/** How one agent's runs went. */
export interface AgentFigures {
  readonly last_run: { readonly id: string; readonly status: string; readonly created_at: number } | null;
  /** Of the last hundred that ended; null before the first. */
  readonly error_rate: number | null;
  readonly pending_approvals: number;
}

/** What became of runs, in numbers. */
export class Stats {
  readonly #engine: DurableEngine;

  constructor(engine: DurableEngine) {
    this.#engine = engine;
  }

  async report(query: StatsQuery): Promise<StatsReport> {
    const { tenant = DEFAULT_TENANT, agent, from, to } = query;
    const store = await this.#upToDate(tenant);
    return store.read(function* (db) {
      let found = db
        .selectFrom("run_stats")
        .selectAll()
        .where("tenant", "=", tenant)
        .where("created_at", ">=", from)
        .where("created_at", "<", to);
      if (agent !== undefined) found = found.where("agent", "=", agent);
      const buckets = inBuckets(yield* rows(found), query);
      return { from, to, buckets, now: yield* figuresNow(db, tenant, agent) };
    });
  }

  /** The same for each agent that has had a run or asks for something, by name. */
  async agents({ tenant = DEFAULT_TENANT } = {}): Promise<ReadonlyMap<string, AgentFigures>> {
    const store = await this.#upToDate(tenant);
    return store.read((db) => figuresOfAgents(db, tenant));
  }

  /** A page at a time, so that runs can write in between; and where nothing has ended, nobody waits for a write. */
  async #upToDate(tenant: string): Promise<Store> {
    await this.#engine.open();
    const { store } = this.#engine;
    for (;;) {
      const ended = await store.read((db) => uncounted(db, tenant));
      if (ended.length === 0) return store;
      await store.write((db) => countRuns(db, ended));
    }
  }
}

function inBuckets(
  found: readonly RunStatsTable[],
  { from, to, buckets }: StatsQuery,
): readonly StatsBucket[] {
  const width = Math.max(1, (to - from) / buckets);
  const within: RunStatsTable[][] = Array.from({ length: buckets }, () => []);
  for (const row of found)
    within[Math.min(buckets - 1, Math.floor((row.created_at - from) / width))]?.push(row);
  return within.map((of, i) =>
    bucketOf(of, Math.round(from + i * width), Math.round(from + (i + 1) * width)),
  );
}

function bucketOf(found: readonly RunStatsTable[], from: number, to: number): StatsBucket {
  const roots = found.filter(({ is_root }) => is_root === 1); // usage of sub-agents adds up to their parents
  const count = (status: string) => roots.filter((row) => row.status === status).length;
  const sum = (of: (row: RunStatsTable) => number) => roots.reduce((total, row) => total + of(row), 0);
  const verdicts: Record<string, number> = {};
  let cost: number | null = 0;
  for (const row of found) {
    const body = statsBody.read(row.body, row.run_id);
    if (row.is_root === 1) cost = cost === null || body.cost === null ? null : cost + body.cost;
    for (const [action, times] of Object.entries(body.verdicts))
      verdicts[action] = (verdicts[action] ?? 0) + times;
  }
  const durations = roots
    .filter(({ status }) => status === "completed")
    .map(({ created_at, ended_at }) => ended_at - created_at)
    .sort((a, b) => a - b);
  return {
    from,
    to,
    runs: roots.length,
    completed: count("completed"),
    errors: count("error"),
    cancelled: count("cancelled"),
    input_tokens: sum(({ input_tokens }) => input_tokens),
    output_tokens: sum(({ output_tokens }) => output_tokens),
    cost,
    latency_p50_ms: quantile(durations, 0.5),
    latency_p95_ms: quantile(durations, 0.95),
    verdicts,
  };
}

function quantile(sorted: readonly number[], part: number): number | null {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? null;
}

function* figuresNow(db: Builder, tenant: string, agent?: string): Operation<StatsReport["now"]> {
  let open = db
    .selectFrom("runs")
    .select((e) => ["status", e.fn.countAll<number>().as("n")])
    .where("tenant", "=", tenant)
    .where("parent_run_id", "is", null)
    .where("status", "in", ["queued", "running", "waiting", "parked"])
    .groupBy("status");
  if (agent !== undefined) open = open.where("agent", "=", agent);
  let pending = db
    .selectFrom("approvals")
    .innerJoin("runs", "runs.id", "approvals.run_id")
    .select((e) => e.fn.countAll<number>().as("n"))
    .where("approvals.tenant", "=", tenant)
    .where("approvals.state", "=", "pending");
  if (agent !== undefined) pending = pending.where("runs.agent", "=", agent);
  const counts = new Map((yield* rows(open)).map(({ status, n }) => [status, Number(n)]));
  const of = (status: string) => counts.get(status) ?? 0;
  const [asked] = yield* rows(pending);
  return {
    running: of("running") + of("queued"),
    waiting: of("waiting"),
    parked: of("parked"),
    pending_approvals: Number(asked?.n ?? 0),
  };
}

const RECENT = 100;

function* figuresOfAgents(db: Builder, tenant: string): Operation<ReadonlyMap<string, AgentFigures>> {
  const last = yield* rows(
    db
      .selectFrom("runs")
      .select((e) => ["agent", e.fn.max("id").as("id")]) // ids sort by when they were made
      .where("tenant", "=", tenant)
      .where("parent_run_id", "is", null)
      .where("kind", "=", "agent") // a workflow may have an agent's name
      .groupBy("agent"),
  );
  const asked = yield* rows(
    db
      .selectFrom("approvals")
      .innerJoin("runs", "runs.id", "approvals.run_id")
      .select((e) => ["runs.agent", e.fn.countAll<number>().as("n")])
      .where("approvals.tenant", "=", tenant)
      .where("approvals.state", "=", "pending")
      .where("runs.kind", "=", "agent")
      .groupBy("runs.agent"),
  );
  const pending = new Map(asked.map(({ agent, n }) => [agent, Number(n)]));
  const figures = new Map<string, AgentFigures>();
  for (const { agent, id } of last) {
    const [run] = yield* rows(
      db.selectFrom("runs").select(["id", "status", "created_at"]).where("id", "=", id),
    );
    const ended = yield* rows(
      db
        .selectFrom("run_stats")
        .innerJoin("runs", "runs.id", "run_stats.run_id")
        .select("run_stats.status")
        .where("run_stats.tenant", "=", tenant)
        .where("run_stats.agent", "=", agent)
        .where("run_stats.is_root", "=", 1)
        .where("runs.kind", "=", "agent")
        .orderBy("run_stats.created_at", "desc")
        .limit(RECENT),
    );
    const failed = ended.filter(({ status }) => status === "error").length;
    figures.set(agent, {
      last_run: run ?? null,
      error_rate: ended.length === 0 ? null : failed / ended.length,
      pending_approvals: pending.get(agent) ?? 0,
    });
  }
  return figures;
}
