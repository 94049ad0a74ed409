import { TracksideError } from "trackside";
import { eraseAnswers } from "../answers/answers.ts";
import { erasePieces } from "../artifacts/content.ts";
import type { DurableEngine } from "../journal/durable-engine.ts";
import { erasePlanOutputs } from "../plans/erase.ts";
import { rows } from "../store/store.ts";

/** Erases everything a conversation consists of. A run under way on it is stopped first. */
export async function eraseConversation(engine: DurableEngine, tenant: string, id: string): Promise<void> {
  const { store } = engine;
  const open = await store.read(function* (db) {
    const [row] = yield* rows(
      db.selectFrom("conversations").select("id").where("id", "=", id).where("tenant", "=", tenant),
    );
    if (row === undefined) throw new TracksideError("not_found", `There is no conversation ${id}.`);
    return yield* rows(
      db
        .selectFrom("runs")
        .select(["id", "parent_run_id"])
        .where("conversation_id", "=", id)
        .where("ended_at", "is", null),
    );
  });
  // Sub-agents stop with whoever started them: stopped by themselves they would be an answer to go on with.
  for (const run of open)
    if (run.parent_run_id === null) await engine.cancel(run.id, "its conversation was deleted");
  await store.write(function* (db) {
    const runs = yield* rows(db.selectFrom("runs").select("id").where("conversation_id", "=", id));
    for (const { id: run_id } of runs) {
      for (const table of ["commits", "outcomes", "approvals", "deferred", "wakes"] as const)
        yield* rows(db.deleteFrom(table).where("run_id", "=", run_id));
      yield* rows(db.deleteFrom("reservations").where("root_run_id", "=", run_id));
      yield* rows(db.deleteFrom("requests").where("record_id", "=", run_id));
    }
    const branches = yield* rows(db.selectFrom("branches").select("id").where("conversation_id", "=", id));
    for (const { id: branch_id } of branches)
      yield* rows(db.deleteFrom("inbox").where("branch_id", "=", branch_id));
    // Without its row a run's writer is fenced off: nothing of it can land any more.
    yield* rows(db.deleteFrom("runs").where("conversation_id", "=", id));
    yield* erasePieces(db, id);
    yield* rows(db.deleteFrom("artifacts").where("conversation_id", "=", id));
    yield* rows(db.deleteFrom("branches").where("conversation_id", "=", id));
    yield* erasePlanOutputs(db, id);
    yield* rows(db.deleteFrom("conversations").where("id", "=", id));
    // Words of it may be in what was answered over HTTP; which answers those are, nobody knows.
    yield* eraseAnswers(db, tenant);
  });
  await store.expunge?.();
  engine.forget(runIds(open));
}

function runIds(runs: readonly { id: string }[]): readonly string[] {
  return runs.map(({ id }) => id);
}
