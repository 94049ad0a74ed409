import { NO_USAGE } from "trackside/engine";
import * as z from "zod";
import { runBody } from "../journal/row-codecs.ts";
import { loadCommits } from "../journal/run-records.ts";
import { versioned } from "../store/rows/versioned.ts";
import { type Builder, type Operation, rows } from "../store/store.ts";
import type { RunStatsTable, RunsTable } from "../store/tables.ts";

const version1 = z.object({
  v: z.literal(1),
  /** Null while any part of it is unpriced. */
  cost: z.number().nullable(),
  /** What rails said other than continue, by action. */
  verdicts: z.record(z.string(), z.number()),
});

export const statsBody = versioned({ name: "run_stats", current: 1, versions: { 1: version1 }, upgrade: {} });

/** Runs end in the order of their clocks, which may differ a little between machines. */
const SKEW_MS = 60_000;
const AT_ONCE = 500;

/** Runs that have ended and are not counted yet, a page of them. */
export function* uncounted(db: Builder, tenant: string): Operation<readonly RunsTable[]> {
  const [last] = yield* rows(
    db
      .selectFrom("run_stats")
      .select((e) => e.fn.max("ended_at").as("at"))
      .where("tenant", "=", tenant),
  );
  const since = Number(last?.at ?? 0) - SKEW_MS;
  return yield* rows(
    db
      .selectFrom("runs")
      .selectAll()
      .where("tenant", "=", tenant)
      .where("kind", "!=", "import")
      .where("ended_at", ">=", since)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom("run_stats").select("run_stats.run_id").whereRef("run_stats.run_id", "=", "runs.id"),
          ),
        ),
      )
      .orderBy("ended_at")
      .limit(AT_ONCE),
  );
}

/**
 * Counts these. Everything it needs is in their rows; what it writes down is numbers only, so that the numbers of a month
 * need not read the journals of a month. Whoever counts the same ones at the same time writes the same.
 */
export function* countRuns(db: Builder, ended: readonly RunsTable[]): Operation<void> {
  for (const run of ended)
    yield* rows(
      db
        .insertInto("run_stats")
        .values(yield* statsOf(db, run))
        .onConflict((conflict) => conflict.column("run_id").doNothing()),
    );
}

function* statsOf(db: Builder, run: RunsTable): Operation<RunStatsTable> {
  const usage = runBody.read(run.body, run.id).usage ?? NO_USAGE;
  const verdicts: Record<string, number> = {};
  for (const { body } of yield* loadCommits(db, run.id)) {
    for (const note of body.notes) {
      if (note.type !== "rail") continue;
      for (const { action, shadow, alert } of note.records) {
        const said = action === "continue" && alert !== undefined ? "alert" : action;
        const name = shadow && said !== "continue" ? "shadow" : said;
        if (name !== "continue") verdicts[name] = (verdicts[name] ?? 0) + 1;
      }
    }
  }
  return {
    run_id: run.id,
    tenant: run.tenant,
    agent: run.agent,
    status: run.status,
    is_root: run.parent_run_id === null ? 1 : 0,
    created_at: run.created_at,
    ended_at: run.ended_at ?? run.updated_at,
    input_tokens: usage.input_tokens,
    output_tokens: usage.output_tokens,
    body: statsBody.write({ v: 1, cost: usage.cost, verdicts }),
  };
}
