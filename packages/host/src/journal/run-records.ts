import type { AgentDefinition, Approval, LogEntry, Plan, Scope, UserMessage } from "trackside";
import { sha256, type UsageNote } from "trackside/engine";
import { approvalsOfRun } from "../approvals/records.ts";
import { hot } from "../hot.ts";
import { type Builder, type Operation, rows } from "../store/store.ts";
import type { RunsTable } from "../store/tables.ts";
import { type PinnedTeam, readPinned } from "./agent-registry.ts";
import type { Codec, NewArtifact } from "./codec.ts";
import { commitBody, outcomeBody, runBody } from "./row-codecs.ts";
import { ASIDE, type CommitBody, type OutcomeBody, type RunBody, type StoredMessage } from "./rows.ts";

/** Runs that are not over. */
export const OPEN_STATES = ["queued", "running", "waiting"] as const;

const insert = hot<Omit<RunsTable, never>>((db, value) =>
  db.insertInto("runs").values({
    id: value("id"),
    tenant: value("tenant"),
    agent: value("agent"),
    kind: value("kind"),
    status: value("status"),
    conversation_id: value("conversation_id"),
    branch_id: value("branch_id"),
    turn_ref: value("turn_ref"),
    root_run_id: value("root_run_id"),
    parent_run_id: value("parent_run_id"),
    retried_from: value("retried_from"),
    definition_digest: value("definition_digest"),
    agent_id: value("agent_id"),
    engine: value("engine"),
    owner: value("owner"),
    fence: value("fence"),
    cancel_reason: value("cancel_reason"),
    created_at: value("created_at"),
    updated_at: value("updated_at"),
    ended_at: value("ended_at"),
    body: value("body"),
  }),
);

export function* insertRun(db: Builder, row: RunsTable): Operation<void> {
  yield* insert(db, row);
}

const pin = hot<{ digest: string; body: string }>((db, value) =>
  db
    .insertInto("definitions")
    .values({ digest: value("digest"), body: value("body") })
    .onConflict((conflict) => conflict.column("digest").doNothing()),
);

/** Keeps the definition a run is pinned to; the same one is kept once. */
export function* pinDefinition(db: Builder, digest: string, body: string): Operation<void> {
  yield* pin(db, { digest, body });
}

const finish = hot<{ id: string; fence: number; status: string; at: number; body: string }>((db, value) =>
  db
    .updateTable("runs")
    .set({
      status: value("status"),
      ended_at: value("at"),
      updated_at: value("at"),
      owner: null,
      body: value("body"),
    })
    .where("id", "=", value("id"))
    .where("fence", "=", value("fence")),
);

export function* finishRun(
  db: Builder,
  ended: { id: string; fence: number; status: string; at: number; body: RunBody },
): Operation<void> {
  yield* finish(db, { ...ended, body: JSON.stringify(ended.body) });
}

export function* insertArtifacts(
  db: Builder,
  of: { tenant: string; conversation_id: string; run_id: string; at: number },
  artifacts: readonly NewArtifact[],
): Operation<void> {
  for (const { id, media_type, content } of artifacts) {
    yield* rows(
      db.insertInto("artifacts").values({
        id,
        tenant: of.tenant,
        conversation_id: of.conversation_id,
        run_id: of.run_id,
        media_type,
        bytes: content.length,
        digest: sha256(content),
        created_at: of.at,
        content,
        sources: null,
      }),
    );
  }
}

export interface LoadedRun {
  readonly row: RunsTable;
  readonly body: RunBody;
  readonly scope: Scope;
  readonly user: UserMessage;
  /** The agent it is pinned to, and everybody it may hand the turn to. */
  readonly definition: AgentDefinition;
  readonly team: PinnedTeam["team"];
  /** Every row, oldest first, the loop's and those aside. */
  readonly commits: readonly { readonly ord: number; readonly seq: number; readonly body: CommitBody }[];
  readonly approvals: readonly Approval[];
  readonly outcomes: ReadonlyMap<string, OutcomeBody>;
}

const selectRun = hot<{ id: string }, RunsTable>((db, value) =>
  db.selectFrom("runs").selectAll().where("id", "=", value("id")),
);

const selectDefinition = hot<{ digest: string }, { body: string }>((db, value) =>
  db.selectFrom("definitions").select("body").where("digest", "=", value("digest")),
);

const selectOutcomes = hot<{ run: string }, { key: string; body: string }>((db, value) =>
  db.selectFrom("outcomes").select(["key", "body"]).where("run_id", "=", value("run")),
);

/** Everything there is of a run. */
export function* loadRun(db: Builder, id: string, codec: Codec): Operation<LoadedRun | undefined> {
  const [row] = (yield* selectRun(db, { id })).rows;
  if (row === undefined) return undefined;
  const body = runBody.read(row.body, id);
  const [pinned] = (yield* selectDefinition(db, { digest: row.definition_digest })).rows;
  const commits = yield* loadCommits(db, id);
  const { rows: outcomes } = yield* selectOutcomes(db, { run: id });
  const user = yield* openingMessage(db, body.user, codec);
  return {
    row,
    body,
    scope: body.scope,
    user,
    ...(pinned === undefined ? undefinedDefinition(id) : readPinned(pinned.body)),
    commits,
    approvals: yield* approvalsOfRun(db, id),
    outcomes: new Map(outcomes.map((one) => [one.key, outcomeBody.read(one.body, id)])),
  };
}

/** The message that opened a run, fetched when it is large. */
export function* openingMessage(db: Builder, user: RunBody["user"], codec: Codec): Operation<UserMessage> {
  if (!("artifact" in user)) return user;
  const message = codec.decode(user, yield* readArtifacts(db, [user.artifact]));
  if (message.role !== "user") throw new Error(`${user.id} is no user's message`);
  return message;
}

function undefinedDefinition(id: string): never {
  throw new Error(`the definition that the run ${id} is pinned to is gone`);
}

const selectCommits = hot<{ run_id: string; after: number }, { ord: number; seq: number; body: string }>(
  (db, value) =>
    db
      .selectFrom("commits")
      .select(["ord", "seq", "body"])
      .where("run_id", "=", value("run_id"))
      .where("ord", ">", value("after"))
      .orderBy("ord"),
);

export function* loadCommits(db: Builder, runId: string, after = -1): Operation<LoadedRun["commits"]> {
  const { rows: found } = yield* selectCommits(db, { run_id: runId, after });
  return found.map(({ ord, seq, body }) => ({ ord, seq, body: commitBody.read(body, runId) }));
}

/** The loop's rows: what it is replayed from. */
export function loopRows(commits: LoadedRun["commits"]): readonly CommitBody[] {
  return commits.flatMap(({ body }) => (body.key === ASIDE ? [] : [body]));
}

/** What its model calls used, one after another. */
export function usageIn(commits: LoadedRun["commits"]): readonly UsageNote[] {
  return commits.flatMap(({ body }) => body.notes.filter((note) => note.type === "usage"));
}

/** What the planner came to, as the run's events say it. */
export function planIn(commits: LoadedRun["commits"]): Plan | null {
  for (const { body } of commits) for (const note of body.notes) if (note.type === "plan") return note.plan;
  return null;
}

export function* readArtifacts(
  db: Builder,
  ids: readonly string[],
): Operation<(artifactId: string) => Uint8Array> {
  const found =
    ids.length === 0
      ? []
      : yield* rows(
          db
            .selectFrom("artifacts")
            .select(["id", "content"])
            .where("id", "in", [...ids]),
        );
  const contents = new Map(found.map(({ id, content }) => [id, content]));
  return (id) => {
    const content = contents.get(id);
    if (content === undefined) throw new Error(`the artifact ${id} is gone`);
    return content;
  };
}

/** The messages of rows, large ones fetched: later rows win. */
export function* messagesOf(
  db: Builder,
  commits: LoadedRun["commits"],
  codec: Codec,
): Operation<Map<string, { message: LogEntry; ord: number }>> {
  const stored: { message: StoredMessage; ord: number }[] = commits.flatMap(({ ord, body }) =>
    (body.messages ?? []).map((message) => ({ message, ord })),
  );
  const ids = stored.flatMap(({ message }) => ("artifact" in message ? [message.artifact] : []));
  const read = yield* readArtifacts(db, ids);
  return new Map(
    stored.map(({ message, ord }) => [message.id, { message: codec.decode(message, read), ord }]),
  );
}
