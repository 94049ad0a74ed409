import { type Builder, type Operation, rows } from "../store/store.ts";
import { FENCED } from "./lease.ts";
import { isGone, type ProcessIdentity } from "./process-identity.ts";
import { OPEN_STATES } from "./run-records.ts";

export interface ClaimInit {
  readonly me: string;
  readonly agents: readonly string[];
  readonly limit: number;
  /** Runs of this process that are under way: they need no claim. */
  readonly isActive: (runId: string) => boolean;
  readonly lapsed: (process: ProcessIdentity & { expires_at: number }) => boolean;
  readonly at: number;
}

export interface Claimed {
  readonly runId: string;
  /** The process that had it, if that may still be alive somewhere. */
  readonly from: string | null;
}

/** Takes over runs that nobody runs: released, queued, or of a process that is gone. Each gets a new fence (X4). */
export function* claimRuns(db: Builder, init: ClaimInit): Operation<readonly Claimed[]> {
  const processes = yield* rows(db.selectFrom("processes").selectAll().where("id", "!=", init.me));
  const living = new Set(processes.filter((one) => !init.lapsed(one)).map(({ id }) => id));
  if (init.agents.length === 0) return [];
  const open = yield* rows(
    db
      .selectFrom("runs")
      .innerJoin("branches", "branches.id", "runs.branch_id")
      .select(["runs.id", "runs.owner", "runs.fence", "runs.status"])
      .where("runs.status", "in", [...OPEN_STATES])
      .where("runs.agent", "in", [...init.agents])
      // One run at a time on a branch; the others wait in line.
      .whereRef("branches.active_run_id", "=", "runs.id")
      .where((where) =>
        where.or([where("runs.owner", "is", null), where("runs.owner", "not in", [init.me, ...living])]),
      )
      .orderBy("runs.created_at")
      .limit(init.limit),
  );
  const mine = yield* rows(
    db
      .selectFrom("runs")
      .select(["id", "owner", "fence", "status"])
      .where("status", "in", [...OPEN_STATES])
      .where("owner", "=", init.me),
  );
  const claimed: Claimed[] = [];
  for (const run of [...open, ...mine.filter(({ id }) => !init.isActive(id))]) {
    const taken = yield* rows(
      db
        .updateTable("runs")
        .set({
          owner: init.me,
          fence: run.fence + 1,
          updated_at: init.at,
          status: run.status === "queued" ? "running" : run.status,
        })
        .where("id", "=", run.id)
        .where("fence", "=", run.fence)
        .returning("id"),
    );
    if (taken.length > 0) claimed.push({ runId: run.id, from: run.owner });
  }
  for (const process of processes) {
    if (living.has(process.id)) continue;
    // Gone is gone. One that may only be frozen is fenced off: when it thaws it sees that, and takes its row away itself.
    if (isGone(process)) yield* rows(db.deleteFrom("processes").where("id", "=", process.id));
    else if (process.expires_at !== FENCED)
      yield* rows(db.updateTable("processes").set({ expires_at: FENCED }).where("id", "=", process.id));
  }
  return claimed;
}

/** Whether the process that had a run may still be in the middle of something: it is neither dead nor has seen its fence. */
export function* mayStillAct(db: Builder, processId: string): Operation<boolean> {
  const [process] = yield* rows(db.selectFrom("processes").selectAll().where("id", "=", processId));
  return process !== undefined && !isGone(process);
}
