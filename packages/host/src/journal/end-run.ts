import type { Clock, Scope, UserMessage } from "trackside";
import { newId } from "trackside/engine";
import type { CommitRow } from "trackside/loop";
import { wake } from "../approvals/records.ts";
import { hot } from "../hot.ts";
import { holdsBranch } from "../store/fence.ts";
import { type Builder, type Operation, rows, type Work } from "../store/store.ts";
import type { Codec, NewArtifact } from "./codec.ts";
import { queuedFor, settleInbox } from "./inbox.ts";
import { commitBody, runBody } from "./row-codecs.ts";
import type { RunBody } from "./rows.ts";
import type { Forgotten } from "./run-host.ts";
import { finishRun, insertArtifacts, insertRun } from "./run-records.ts";

/** A run under way, as far as its end concerns other tables. */
export interface EndedRun {
  readonly runId: string;
  readonly tenant: string;
  readonly conversationId: string;
  readonly branchId: string;
  readonly fence: number;
  readonly scope: Scope;
  readonly user: UserMessage;
  readonly from: number;
  /** Of a child: where it is in the lineage. */
  readonly path: readonly string[] | undefined;
  readonly codec: Codec;
  readonly clock: Clock;
  /** How many messages the log has now. */
  length(): number;
  /** Whether any of its rows has work for after the run. */
  deferred(): boolean;
  /** Another run is next on the branch. Told before that is committed, and perhaps more than once. */
  followed(): void;
}

/** What a row means for other tables, in the same transaction; undefined for most, which mean nothing. */
export function besideRow(
  run: EndedRun,
  row: CommitRow,
  artifacts: readonly NewArtifact[],
  forgotten: readonly Forgotten[],
): Work<void> | undefined {
  const heard = row.notes.some(
    (note) => note.type === "dropped" || (note.type === "message_injected" && note.receipt !== undefined),
  );
  if (row.ended === undefined && artifacts.length === 0 && !heard) return undefined;
  return function* (db) {
    const at = run.clock.now();
    const of = { tenant: run.tenant, conversation_id: run.conversationId, run_id: run.runId, at };
    yield* insertArtifacts(db, of, artifacts);
    for (const note of row.notes) {
      if (note.type === "dropped") yield* settleInbox(db, note.receipt, "dropped", run.runId, at);
      else if (note.type === "message_injected" && note.receipt !== undefined)
        yield* settleInbox(db, note.receipt, "admitted", run.runId, at);
    }
    if (row.ended !== undefined) yield* endRun(db, run, row, forgotten, at);
  };
}

function* endRun(
  db: Builder,
  run: EndedRun,
  row: CommitRow,
  forgotten: readonly Forgotten[],
  at: number,
): Operation<void> {
  const { outcome, usage, step } = row.ended ?? { outcome: null, usage: null, step: 0 };
  const logged = row.notes.reduce((n, note) => n + (note.type === "logged" ? note.message_ids.length : 0), 0);
  const length = run.length() + logged;
  const user = yield* openedWith(db, run);
  const body: RunBody = {
    v: 1,
    scope: run.scope,
    user,
    from: run.from,
    ...(run.path === undefined ? {} : { path: run.path }),
    outcome,
    usage,
    steps: step,
  };
  const status = outcome?.status ?? "error";
  yield* finishRun(db, { id: run.runId, fence: run.fence, status, at, body });
  for (const one of forgotten) yield* forget(db, run.runId, one);
  if (run.deferred()) yield* keepDeferred(db, run, at);
  if ((yield* releaseBranch(db, run, length, at)) !== undefined) run.followed();
}

/** The message that opened the run, as its row has it: a large one is in the artifact store since then. */
function* openedWith(db: Builder, { runId, user, codec }: EndedRun): Operation<RunBody["user"]> {
  if (codec.encode([user]).artifacts.length === 0) return user;
  const [row] = yield* rows(db.selectFrom("runs").select("body").where("id", "=", runId));
  return row === undefined ? user : runBody.read(row.body, runId).user;
}

function* forget(db: Builder, runId: string, { ord, message }: Forgotten): Operation<void> {
  const [row] = yield* rows(
    db.selectFrom("commits").select("body").where("run_id", "=", runId).where("ord", "=", ord),
  );
  if (row === undefined) return;
  const body = commitBody.read(row.body, runId);
  const messages = body.messages?.map((known) => (known.id === message.id ? message : known));
  yield* rows(
    db
      .updateTable("commits")
      .set({ body: JSON.stringify({ ...body, messages }) })
      .where("run_id", "=", runId)
      .where("ord", "=", ord),
  );
  const stored = body.messages?.find((known) => known.id === message.id);
  if (stored !== undefined && "artifact" in stored)
    yield* rows(db.deleteFrom("artifacts").where("id", "=", stored.artifact));
}

/** Work that hooks deferred: from its rows into the queue of what is to be done after the run (H7). */
function* keepDeferred(db: Builder, { runId, tenant }: EndedRun, at: number): Operation<void> {
  const found = yield* rows(
    db
      .selectFrom("commits")
      .select("body")
      .where("run_id", "=", runId)
      .where("body", "like", '%"deferred":[%'),
  );
  for (const { body } of found) {
    const { deferred = [] } = commitBody.read(body, runId);
    for (const task of deferred) {
      yield* rows(
        db.insertInto("deferred").values({
          id: newId("task"),
          tenant,
          run_id: runId,
          state: "waiting",
          owner: null,
          attempts: 0,
          created_at: at,
          body: JSON.stringify({ v: 1, ...task }),
        }),
      );
    }
  }
}

const release = hot<{ id: string; run: string; next: string | null; length: number }>((db, value) =>
  db
    .updateTable("branches")
    .set({ active_run_id: value("next"), length: value("length") })
    .where("id", "=", value("id"))
    .where("active_run_id", "=", value("run")),
);

/** Where nobody waits, which is nearly always, that is seen in the same query. */
const releaseToNobody = hot<{ id: string; run: string; length: number }>((db, value) =>
  db
    .updateTable("branches")
    .set({ active_run_id: null, length: value("length") })
    .where("id", "=", value("id"))
    .where("active_run_id", "=", value("run"))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("inbox")
            .select("inbox.id")
            .where("inbox.run_id", "=", value("run"))
            .where("inbox.state", "=", "queued"),
        ),
      ),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("runs")
            .select("runs.id")
            .where("runs.branch_id", "=", value("id"))
            .where("runs.status", "=", "queued"),
        ),
      ),
    ),
);

const touch = hot<{ id: string; at: number }>((db, value) =>
  db
    .updateTable("conversations")
    .set({ updated_at: value("at") })
    .where("id", "=", value("id")),
);

const firstInLine = hot<{ branch: string }, { id: string; body: string }>((db, value) =>
  db
    .selectFrom("runs")
    .select(["id", "body"])
    .where("branch_id", "=", value("branch"))
    .where("status", "=", "queued")
    .orderBy("created_at")
    .orderBy("id")
    .limit(1),
);

const anyLate = hot<{ run: string }, { id: string }>((db, value) =>
  db
    .selectFrom("inbox")
    .select("id")
    .where("run_id", "=", value("run"))
    .where("state", "=", "queued")
    .limit(1),
);

/** The branch is free for the next run: one that a late message opens, or the first in line (X6, X7). Answers which. */
export function* releaseBranch(
  db: Builder,
  run: Pick<EndedRun, "runId" | "branchId" | "tenant" | "scope" | "conversationId">,
  length: number,
  at: number,
): Operation<string | undefined> {
  yield* holdsBranch(db, run.branchId);
  yield* touch(db, { id: run.conversationId, at });
  const { changed: isFree } = yield* releaseToNobody(db, { id: run.branchId, run: run.runId, length });
  if (isFree > 0) return undefined;
  const { rows: late } = yield* anyLate(db, { run: run.runId });
  let next = late.length === 0 ? undefined : yield* openLate(db, run, length, at);
  if (next === undefined) {
    const { rows: line } = yield* firstInLine(db, { branch: run.branchId });
    const [first] = line;
    if (first !== undefined) {
      next = first.id;
      const body: RunBody = { ...runBody.read(first.body, first.id), from: length };
      yield* rows(
        db
          .updateTable("runs")
          .set({ body: JSON.stringify(body) })
          .where("id", "=", first.id),
      );
    }
  }
  yield* release(db, { id: run.branchId, run: run.runId, next: next ?? null, length });
  if (next !== undefined) yield* wake(db, next, "queued", at);
  return next;
}

/** A message that came too late for its run opens the next turn; others that did join that one. */
function* openLate(
  db: Builder,
  run: Pick<EndedRun, "runId" | "branchId" | "tenant" | "scope" | "conversationId">,
  length: number,
  at: number,
): Operation<string | undefined> {
  const queued = yield* queuedFor(db, run.runId);
  // Notes were for a model call of this run, and a sub-agent has no next turn.
  const isChild = run.branchId === run.runId;
  for (const { message, once } of queued)
    if (once || isChild) yield* settleInbox(db, message.id, "dropped", run.runId, at);
  const [first, ...others] = queued.filter(({ once }) => !once && !isChild).map(({ message }) => message);
  if (first === undefined) return undefined;
  const [before] = yield* rows(
    db
      .selectFrom("runs")
      .select(["agent", "agent_id", "engine", "definition_digest", "parent_run_id", "kind"])
      .where("id", "=", run.runId),
  );
  if (before === undefined) return undefined;
  if (before.parent_run_id !== null || before.kind === "workflow") {
    // A sub-agent has one turn, and a workflow has nobody to talk to.
    for (const { id } of [first, ...others]) yield* settleInbox(db, id, "dropped", run.runId, at);
    return undefined;
  }
  const id = newId("run");
  const body: RunBody = {
    v: 1,
    scope: run.scope,
    user: { ...first, id: `${id}.user` },
    from: length,
    outcome: null,
    usage: null,
    steps: 0,
  };
  yield* insertRun(db, {
    id,
    tenant: run.tenant,
    agent: before.agent,
    kind: "agent",
    status: "queued",
    conversation_id: run.conversationId,
    branch_id: run.branchId,
    turn_ref: newId("turn"),
    root_run_id: id,
    parent_run_id: null,
    retried_from: null,
    definition_digest: before.definition_digest,
    agent_id: before.agent_id,
    engine: before.engine,
    owner: null,
    fence: 1,
    cancel_reason: null,
    created_at: at,
    updated_at: at,
    ended_at: null,
    body: JSON.stringify(body),
  });
  yield* settleInbox(db, first.id, "next_turn", id, at);
  for (const { id: other } of others)
    yield* rows(db.updateTable("inbox").set({ run_id: id }).where("id", "=", other));
  return id;
}
