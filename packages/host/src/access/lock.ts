import { changed, type Work } from "../store/store.ts";

/**
 * Makes everybody else who asks for the same wait until this transaction ends, on both databases, even before there is
 * anything to lock. It comes first in a transaction.
 */
export function holding(key: string, now: number): Work<void> {
  return function* (db) {
    yield* changed(
      db
        .insertInto("access_locks")
        .values({ key, at: now })
        .onConflict((on) => on.column("key").doUpdateSet({ at: now })),
    );
  };
}

/** Who is in a tenant, and what they may do. */
export const peopleOf = (tenant: string): string => `people:${tenant}`;
/** Whether the store has its first admin. */
export const SETUP = "setup";
