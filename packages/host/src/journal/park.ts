import { hot } from "../hot.ts";
import { rows, type Store } from "../store/store.ts";
import { Fenced } from "./fenced.ts";
import { runBody } from "./row-codecs.ts";
import { ASIDE, type CommitBody, type RunBody } from "./rows.ts";
import { openBelow } from "./tree.ts";

/** As often an effect may be begun again after its process died in it. */
const MOST_RECOVERIES = 3;

const ADVICE = {
  diverged:
    "What the loop asks for is not what it asked for the first time: the agent or Trackside has changed under it. Bring the old version back and resume the run, or cancel it.",
  recovery_failed:
    "The process died each time in this effect. Find out why, then resume the run, or cancel it.",
} as const;

type ParkCode = keyof typeof ADVICE;

/** Why a run cannot go on by itself. */
export class Parked extends Error {
  override readonly name = "Parked";
  readonly code: ParkCode;
  /** What is to be done is in the message already: it was said of a sub-agent. */
  readonly isAdvised: boolean;

  constructor(message: string, code: ParkCode = "recovery_failed", isAdvised = false) {
    super(message);
    this.code = code;
    this.isAdvised = isAdvised;
  }

  /** What its run is told, and whoever looks at it. */
  get reason(): string {
    return this.isAdvised ? this.message : `${this.message} ${ADVICE[this.code]}`;
  }
}

/** A run is parked with its sub-agent: it cannot go on without what that one was to find out. */
export function parkedChild(id: string, code: ParkCode, reason: string): Parked {
  return new Parked(`Its sub-agent ${id} is parked. ${reason}`, code, true);
}

/** Stops a run until somebody looks at it. It is not over: resuming or cancelling it ends that (X2). */
export async function parkRun(
  store: Store,
  run: { readonly runId: string; readonly fence: number; readonly at: number },
  why: Parked,
): Promise<void> {
  const { runId, fence, at } = run;
  const { code, reason: message } = why;
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
    const [row] = yield* rows(
      db.selectFrom("runs").select(["body", "conversation_id"]).where("id", "=", runId),
    );
    if (row === undefined) return;
    const body: RunBody = { ...runBody.read(row.body, runId), parked: { code, message } };
    yield* rows(
      db
        .updateTable("runs")
        .set({ status: "parked", owner: null, updated_at: at, body: JSON.stringify(body) })
        .where("id", "=", runId),
    );
    // Its sub-agents stop with it, in good order: nothing died in the middle of them.
    const below = yield* openBelow(db, { id: runId, conversation_id: row.conversation_id });
    for (const { id } of below) yield* rows(db.updateTable("runs").set({ owner: null }).where("id", "=", id));
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
