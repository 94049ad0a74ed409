import { changed, type Work } from "../store/index.ts";

/** Forgets what is over: sessions, links, and failures that slow nobody down any more. Answers how many rows. */
export function sweepExpired(now: number): Work<number> {
  return function* (db) {
    let gone = 0;
    for (const table of ["sessions", "access_links", "sign_in_attempts"] as const)
      gone += yield* changed(db.deleteFrom(table).where("expires_at", "<=", now));
    return gone;
  };
}
