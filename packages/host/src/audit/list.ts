import { rows, type Store } from "../store/store.ts";
import { type AuditEntry, readEntry } from "./entry.ts";

const MOST = 1000;

export interface ListAudit {
  /** Rows after this number, in the order of the list; from its beginning unless given. */
  readonly after?: number;
  readonly newestFirst?: boolean;
  /** At most this many; 100 unless given, 1,000 at most. */
  readonly limit?: number;
  /** Only this action, or with a dot at the end all that begin with it: `approval.`. */
  readonly action?: string;
}

/** A tenant's audit, oldest first unless asked otherwise. Go on with the last row's `n` as `after`. */
export function listAudit(
  store: Store,
  tenant: string,
  options: ListAudit = {},
): Promise<readonly AuditEntry[]> {
  const { after, limit = 100, action, newestFirst = false } = options;
  return store.read(function* (db) {
    let query = db
      .selectFrom("audit")
      .selectAll()
      .where("tenant", "=", tenant)
      .orderBy("n", newestFirst ? "desc" : "asc")
      .limit(Math.min(Math.max(1, limit), MOST));
    if (after !== undefined) query = query.where("n", newestFirst ? "<" : ">", after);
    if (action?.endsWith(".")) query = query.where("action", "like", `${action}%`);
    else if (action !== undefined) query = query.where("action", "=", action);
    return (yield* rows(query)).map(readEntry);
  });
}
