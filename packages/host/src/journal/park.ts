import { hot } from "../hot.ts";
import { rows, type Store } from "../store/store.ts";
import { Fenced } from "./fenced.ts";
import { runBody } from "./row-codecs.ts";
import { ASIDE, type CommitBody, type RunBody } from "./rows.ts";

/** As often an effect may be begun again after its process died in it. */
const MOST_RECOVERIES = 3;

const ADVICE = {
  diverged:
    "What the loop asks for is not what it asked for the first time: the agent or Trackside has changed under it. Bring the old version back and resume the run, or cancel it.",
  recovery_failed:
    "The process died each time in this effect. Find out why, then resume the run, or cancel it.",
} as const;

/** Stops a run until somebody looks at it. It is not over: resuming or cancelling it ends that (X2). */
export async function parkRun(
  store: Store,
  run: { readonly runId: string; readonly fence: number; readonly at: number },
  code: keyof typeof ADVICE,
  why: string,
): Promise<void> {
  const { runId, fence, at } = run;
  const message = `${why} ${ADVICE[code]}`;
  const last = await store.read(function* (db) {
    const [row] = yield* rows(
      db
        .selectFrom("commits")
        .select(["ord", "seq"])
        .where("run_id", "=", runId)
        .orderBy("ord", "desc")
        .limit(1),
    );
    return row ?? { ord: -1, seq: 0 };
  });
  const commit: CommitBody = {
    v: 1,
    at,
    key: ASIDE,
    result: null,
    notes: [{ type: "status", status: "parked", reason: message }],
    begun: [],
  };
  const entry = { run_id: runId, ord: last.ord + 1, seq: last.seq + 1, body: JSON.stringify(commit), fence };
  const landed = await store.append(entry, function* (db) {
    const [row] = yield* rows(db.selectFrom("runs").select("body").where("id", "=", runId));
    if (row === undefined) return;
    const body: RunBody = { ...runBody.read(row.body, runId), parked: { code, message } };
    yield* rows(
      db
        .updateTable("runs")
        .set({ status: "parked", owner: null, updated_at: at, body: JSON.stringify(body) })
        .where("id", "=", runId),
    );
  });
  if (!landed) throw new Fenced(runId);
}

const bodyOf = hot<{ id: string; fence: number }, { body: string }>((db, value) =>
  db.selectFrom("runs").select("body").where("id", "=", value("id")).where("fence", "=", value("fence")),
);

const setBody = hot<{ id: string; fence: number; body: string }>((db, value) =>
  db
    .updateTable("runs")
    .set({ body: value("body") })
    .where("id", "=", value("id"))
    .where("fence", "=", value("fence")),
);

/**
 * An effect that a process died in is begun again. Counted before it is, so that an effect which kills its process does not
 * do so for ever. Answers why it must not be.
 */
export async function recordAgain(
  store: Store,
  run: { readonly runId: string; readonly fence: number },
  key: string,
): Promise<string | undefined> {
  const effect = key.replace(/(\/model)\/\d+$/, "$1"); // each attempt at a model call has a key of its own
  const { runId, fence } = run;
  return store.write(function* (db) {
    const [row] = (yield* bodyOf(db, { id: runId, fence })).rows;
    if (row === undefined) throw new Fenced(runId);
    const body = runBody.read(row.body, runId);
    const times = (body.recoveries?.[effect] ?? 0) + 1;
    if (times > MOST_RECOVERIES) return `Its process died ${times} times in ${effect}.`;
    const next: RunBody = {
      ...body,
      recoveries: { ...body.recoveries, [effect]: times },
    };
    const { changed } = yield* setBody(db, { id: runId, fence, body: JSON.stringify(next) });
    if (changed === 0) throw new Fenced(runId);
    return undefined;
  });
}
