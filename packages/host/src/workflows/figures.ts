import { type Builder, type Operation, rows } from "../store/store.ts";

/** How one workflow's runs went. Runs of it within others are theirs. */
export interface WorkflowFigures {
  readonly last_run: { readonly id: string; readonly status: string; readonly created_at: number } | null;
  /** A hundred at most: the last ones. */
  readonly runs: number;
  /** How many of those ended with an error. */
  readonly failures: number;
  /** Of its runs, and of everything below them. */
  readonly pending_approvals: number;
}

export const NO_RUNS: WorkflowFigures = { last_run: null, runs: 0, failures: 0, pending_approvals: 0 };

const RECENT = 100;

/** The figures of these workflows, by name. */
export function* figuresOf(
  db: Builder,
  tenant: string,
  names: readonly string[],
): Operation<ReadonlyMap<string, WorkflowFigures>> {
  const pending = yield* pendingIn(db, tenant);
  const figures = new Map<string, WorkflowFigures>();
  for (const name of names) {
    const recent = yield* rows(
      db
        .selectFrom("runs")
        .select(["id", "status", "created_at"])
        .where("tenant", "=", tenant)
        .where("kind", "=", "workflow")
        .where("agent", "=", name)
        .where("parent_run_id", "is", null)
        .orderBy("id", "desc") // ids sort by when they were made
        .limit(RECENT),
    );
    figures.set(name, {
      last_run: recent[0] ?? null,
      runs: recent.length,
      failures: recent.filter(({ status }) => status === "error").length,
      pending_approvals: pending.get(name) ?? 0,
    });
  }
  return figures;
}

function* pendingIn(db: Builder, tenant: string): Operation<ReadonlyMap<string, number>> {
  const asked = yield* rows(
    db
      .selectFrom("approvals")
      .innerJoin("runs", "runs.id", "approvals.run_id")
      .innerJoin("runs as root", "root.id", "runs.root_run_id")
      .select((e) => ["root.agent", e.fn.countAll<number>().as("n")])
      .where("approvals.tenant", "=", tenant)
      .where("approvals.state", "=", "pending")
      .where("root.kind", "=", "workflow")
      .groupBy("root.agent"),
  );
  return new Map(asked.map(({ agent, n }) => [agent, Number(n)]));
}
