import { rows, type Store } from "../store/store.ts";
import { type AuditEntry, readEntry } from "./entry.ts";

const MOST = 1000;

export interface ListAudit {
  /** Rows after this number; from the first unless given. */
  readonly after?: number;
  /** At most this many; 100 unless given, 1,000 at most. */
  readonly limit?: number;
  /** Only this action, or with a dot at the end all that begin with it: `approval.`. */
  readonly action?: string;
}

/** A tenant's audit, oldest first. Go on with the last row's `n` as `after`. */
export function listAudit(
  store: Store,
  tenant: string,
  options: ListAudit = {},
): Promise<readonly AuditEntry[]> {
  const { after = 0, limit = 100, action } = options;
  return store.read(function* (db) {
    let query = db
      .selectFrom("audit")
      .selectAll()
      .where("tenant", "=", tenant)
      .where("n", ">", after)
      .orderBy("n")
      .limit(Math.min(Math.max(1, limit), MOST));
    if (action?.endsWith(".")) query = query.where("action", "like", `${action}%`);
    else if (action !== undefined) query = query.where("action", "=", action);
    return (yield* rows(query)).map(readEntry);
  });
}
