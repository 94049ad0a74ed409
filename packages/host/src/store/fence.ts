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
  const shared = db.getExecutor().adapter instanceof PostgresAdapter;
  return (yield* rows(shared ? look.forShare() : look)).length === 1;
}
