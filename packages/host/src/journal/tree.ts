import { type Builder, type Operation, rows } from "../store/store.ts";
import type { RunsTable } from "../store/tables.ts";

/** Runs of a tree are in one conversation. */
type Place = Pick<RunsTable, "id" | "conversation_id">;

/** Sub-agents of a run that are not over, theirs, and so on: each before those it started. */
export function* openBelow(db: Builder, run: Place): Operation<readonly RunsTable[]> {
  const open = yield* rows(
    db
      .selectFrom("runs")
      .selectAll()
      .where("conversation_id", "=", run.conversation_id)
      .where("parent_run_id", "is not", null)
      .where("ended_at", "is", null),
  );
  const found: RunsTable[] = [];
  let above = [run.id];
  while (above.length > 0) {
    const next = open.filter((one) => above.includes(one.parent_run_id ?? ""));
    found.push(...next);
    above = next.map(({ id }) => id);
  }
  return found;
}

/** A run and everybody above it, the root last. */
export function* lineOf(db: Builder, runId: string): Operation<readonly Line[]> {
  const line: Line[] = [];
  for (let id: string | null = runId; id !== null; ) {
    const [row]: readonly Line[] = yield* rows(
      db
        .selectFrom("runs")
        .select(["id", "parent_run_id", "root_run_id", "conversation_id"])
        .where("id", "=", id),
    );
    if (row === undefined) break;
    line.push(row);
    id = row.parent_run_id;
  }
  return line;
}

export type Line = Pick<RunsTable, "id" | "parent_run_id" | "root_run_id" | "conversation_id">;
