import { PostgresAdapter } from "kysely";
import { type Builder, type Operation, rows } from "./store.ts";

/**
 * Whether the fence is still the run's, and it stays so until this transaction has ended. For work that writes on behalf of
 * a run beside its journal: in PostgreSQL a look without a lock could be overtaken by a claim before the commit (X4);
 * in SQLite whoever writes is alone.
 *
 * @example
 * if (!(yield* holdsFence(db, runId, fence))) return false;
 */
export function* holdsFence(db: Builder, runId: string, fence: number): Operation<boolean> {
  const look = db.selectFrom("runs").select("id").where("id", "=", runId).where("fence", "=", fence);
  return (yield* rows(isShared(db) ? look.forShare() : look)).length === 1;
}

/** A run does not end while this transaction is under way: what is left for it is seen by its end, or its end is seen here. */
export function* holdsRun(db: Builder, runId: string): Operation<void> {
  if (isShared(db)) yield* rows(db.selectFrom("runs").select("id").where("id", "=", runId).forShare());
}

/** Whoever puts a run on a branch and whoever takes one off it do so one after the other. */
export function* holdsBranch(db: Builder, branchId: string): Operation<void> {
  if (isShared(db))
    yield* rows(db.selectFrom("branches").select("id").where("id", "=", branchId).forUpdate());
}

function isShared(db: Builder): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}
