import { CompiledQuery } from "kysely";
import type { CommitEntry } from "./store.ts";

/**
 * Writes deliveries whose fence is still their run's. The share lock is what makes that true until the commit: a claim
 * raises the fence by an update of the same row, so it waits for us and then reads a journal that has our rows, or we wait
 * for it, look at the row again and find our fence gone. Without the lock we could look, be overtaken by a claim, and
 * write into a journal that the new owner has already read. (FOR KEY SHARE would not do: it lets updates pass that leave
 * the key alone.)
 */
const APPEND = `INSERT INTO commits (run_id, ord, seq, body)
  SELECT e.run_id, e.ord, e.seq, e.body
  FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[]) AS e (run_id, ord, seq, body, fence)
  JOIN runs ON runs.id = e.run_id AND runs.fence = e.fence
  FOR SHARE OF runs
  RETURNING run_id, ord`;

/** Which of these deliveries are there, word for word. */
const LANDED = `SELECT c.run_id, c.ord
  FROM unnest($1::text[], $2::bigint[], $3::text[]) AS e (run_id, ord, body)
  JOIN commits c ON c.run_id = e.run_id AND c.ord = e.ord AND c.body = e.body`;

export function appendQuery(entries: readonly CommitEntry[]): CompiledQuery {
  return CompiledQuery.raw(APPEND, [
    entries.map((entry) => entry.run_id),
    entries.map((entry) => entry.ord),
    entries.map((entry) => entry.seq),
    entries.map((entry) => entry.body),
    entries.map((entry) => entry.fence),
  ]);
}

export function landedQuery(entries: readonly CommitEntry[]): CompiledQuery {
  return CompiledQuery.raw(LANDED, [
    entries.map((entry) => entry.run_id),
    entries.map((entry) => entry.ord),
    entries.map((entry) => entry.body),
  ]);
}

/** The entries that are among the rows of one of these queries. */
export function among(entries: readonly CommitEntry[], rows: readonly unknown[]): Set<CommitEntry> {
  const keys = new Set((rows as readonly Pick<CommitEntry, "run_id" | "ord">[]).map(keyOf)); // what both queries return
  return new Set(entries.filter((entry) => keys.has(keyOf(entry))));
}

function keyOf({ run_id, ord }: Pick<CommitEntry, "run_id" | "ord">): string {
  return `${ord} ${run_id}`;
}
