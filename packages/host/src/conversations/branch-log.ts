import type { LogEntry } from "trackside";
import { hot } from "../hot.ts";
import type { Codec } from "../journal/codec.ts";
import { runBody } from "../journal/row-codecs.ts";
import type { RunBody } from "../journal/rows.ts";
import { loadCommits, messagesOf, openingMessage } from "../journal/run-records.ts";
import type { Builder, Operation } from "../store/store.ts";

const selectBranch = hot<{ id: string }, { parent_id: string | null; shared: number }>((db, value) =>
  db.selectFrom("branches").select(["parent_id", "shared"]).where("id", "=", value("id")),
);

const selectRuns = hot<{ branch: string }, { id: string; body: string }>((db, value) =>
  db
    .selectFrom("runs")
    .select(["id", "body"])
    .where("branch_id", "=", value("branch"))
    .orderBy("created_at")
    .orderBy("id"),
);

/**
 * The log of a branch, oldest first: what it shares with the branch it left, then what its own runs logged. A view of
 * the runs' rows; nothing is written twice.
 */
export function* branchMessages(
  db: Builder,
  branchId: string,
  codec: Codec,
  exceptRun?: string,
): Operation<LogEntry[]> {
  const [branch] = (yield* selectBranch(db, { id: branchId })).rows;
  if (branch === undefined) throw new Error(`the branch ${branchId} is gone`);
  const messages =
    branch.parent_id === null
      ? []
      : (yield* branchMessages(db, branch.parent_id, codec)).slice(0, branch.shared);
  const { rows: runs } = yield* selectRuns(db, { branch: branchId });
  // By where each began, not by clocks, which differ between machines: one run at a time writes to a branch.
  const bodies = runs.map(({ id, body }) => ({ id, body: runBody.read(body, id) }));
  for (const { id, body } of bodies.sort((a, b) => a.body.from - b.body.from)) {
    if (id !== exceptRun) messages.push(...(yield* loggedBy(db, id, body, codec)));
  }
  return messages;
}

/** The runs whose messages are in the log of a branch up to a position, with those of the branches it left. */
export function* branchRuns(
  db: Builder,
  branchId: string,
  upTo = Number.POSITIVE_INFINITY,
): Operation<string[]> {
  const [branch] = (yield* selectBranch(db, { id: branchId })).rows;
  if (branch === undefined) throw new Error(`the branch ${branchId} is gone`);
  const { parent_id, shared } = branch;
  const before = parent_id === null ? [] : yield* branchRuns(db, parent_id, Math.min(shared, upTo));
  const { rows: runs } = yield* selectRuns(db, { branch: branchId });
  const own = runs.filter(({ id, body }) => runBody.read(body, id).from < upTo);
  return [...before, ...own.map(({ id }) => id)];
}

/** What one run has put into its branch's log so far. */
function* loggedBy(db: Builder, runId: string, { user }: RunBody, codec: Codec): Operation<LogEntry[]> {
  const commits = yield* loadCommits(db, runId);
  const known = yield* messagesOf(db, commits, codec);
  const logged: LogEntry[] = [];
  for (const { body } of commits) {
    for (const note of body.notes) {
      if (note.type !== "logged") continue;
      for (const id of note.message_ids) {
        const message = known.get(id)?.message;
        if (message !== undefined) logged.push(message);
        else if (user.id === id) logged.push(yield* openingMessage(db, user, codec));
        else throw new Error(`the message ${id} of run ${runId} is gone`);
      }
    }
  }
  return logged;
}
