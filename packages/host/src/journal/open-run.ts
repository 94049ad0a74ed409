import { type ClientTool, TracksideError, type UserMessage } from "trackside";
import { digestOf, type Log, newId } from "trackside/engine";
import { importArtifacts } from "../artifacts/import.ts";
import { hot } from "../hot.ts";
import { holdsBranch } from "../store/fence.ts";
import { type Builder, type Operation, rows } from "../store/store.ts";
import type { Codec } from "./codec.ts";
import { runBody } from "./row-codecs.ts";
import type { RunBody } from "./rows.ts";
import { insertArtifacts, insertRun, pinDefinition } from "./run-records.ts";

/** A run as it is asked for. */
export interface NewRun {
  readonly id: string;
  readonly turnRef: string;
  readonly tenant: string;
  readonly agent: string;
  readonly kind: "agent" | "workflow";
  /** The stored agent's id, where it is not in code. */
  readonly agentId?: string | undefined;
  readonly scope: RunBody["scope"];
  readonly user: UserMessage;
  readonly definition: { readonly digest: string; readonly body: string; readonly isPinned: boolean };
  /** By id, or one that only this process has so far. */
  readonly conversation: string | { readonly id: string; readonly log: Log } | undefined;
  readonly requestId: string | undefined;
  /** Tools that the request brings along; they are part of what it asks for. */
  readonly clientTools: readonly ClientTool[];
  /** The distributed engine that drives it; null where processes that share the store do. */
  readonly engine: string | null;
  /** Who runs it; null leaves it to whoever claims it. */
  readonly owner: string | null;
  /** What to do when the branch is busy (X7). */
  readonly whenBusy: "refuse" | "queue";
  readonly at: number;
}

/** What came of it: a run of its own, or the one that the same request made before. */
export interface OpenedRun {
  readonly runId: string;
  readonly turnRef: string;
  readonly conversationId: string;
  readonly branchId: string;
  readonly from: number;
  /** `ready`: it is for another engine to begin. */
  readonly state: "running" | "queued" | "ready" | "known";
}

/** Everything that has to be there before a run takes its first step, in one transaction. */
export function* openRun(db: Builder, given: NewRun, codec: Codec): Operation<OpenedRun> {
  const known = yield* knownRequest(db, given);
  if (known !== undefined) return known;
  const place = yield* placeOf(db, given, codec);
  const taken = place.isNew || (yield* takeBranch(db, place.branchId, given.id));
  if (!taken && given.whenBusy === "refuse") throw yield* busy(db, place.branchId);
  const { stored, artifacts } = codec.encode([given.user]);
  const [user = given.user] = stored;
  const { id, tenant, agent, at } = given;
  const of = { tenant, conversation_id: place.conversationId, run_id: id, at };
  yield* insertArtifacts(db, of, artifacts);
  if (!given.definition.isPinned) yield* pinDefinition(db, given.definition.digest, given.definition.body);
  const body: RunBody = {
    v: 1,
    scope: given.scope,
    user: user as RunBody["user"], // the user's message, itself or by reference
    from: place.length,
    outcome: null,
    usage: null,
    steps: 0,
  };
  const isQueued = !taken || given.owner === null;
  yield* insertRun(db, {
    id,
    tenant,
    agent,
    kind: given.kind,
    status: isQueued ? "queued" : "running",
    conversation_id: place.conversationId,
    branch_id: place.branchId,
    turn_ref: given.turnRef,
    root_run_id: id,
    parent_run_id: null,
    retried_from: null,
    definition_digest: given.definition.digest,
    agent_id: given.agentId ?? null,
    engine: given.engine,
    owner: isQueued ? null : given.owner,
    fence: 1,
    cancel_reason: null,
    created_at: at,
    updated_at: at,
    ended_at: null,
    body: JSON.stringify(body),
  });
  yield* keepRequest(db, given, id);
  return {
    runId: id,
    turnRef: given.turnRef,
    conversationId: place.conversationId,
    branchId: place.branchId,
    from: place.length,
    state: !isQueued ? "running" : taken && given.engine !== null ? "ready" : "queued",
  };
}

interface BranchPlace {
  readonly conversationId: string;
  readonly branchId: string;
  readonly length: number;
  readonly isNew: boolean;
}

function* placeOf(db: Builder, given: NewRun, codec: Codec): Operation<BranchPlace> {
  const { conversation } = given;
  if (conversation === undefined) {
    const id = newId("conv");
    yield* createConversation(db, {
      id,
      tenant: given.tenant,
      agent: given.agent,
      at: given.at,
      runId: given.id,
    });
    return { conversationId: id, branchId: id, length: 0, isNew: true };
  }
  const id = typeof conversation === "string" ? conversation : conversation.id;
  yield* holdsBranch(db, id); // before its length is read
  const [branch] = yield* rows(
    db
      .selectFrom("branches")
      .select(["id", "conversation_id", "parent_id", "length"])
      .where("id", "=", id)
      .where("tenant", "=", given.tenant),
  );
  if (branch !== undefined && branch.parent_id === null && branch.id !== branch.conversation_id)
    throw new TracksideError(
      "config_invalid",
      `${id} is the conversation of a sub-agent, which has one turn. Go on with ${branch.conversation_id}, or branch it first.`,
    );
  if (branch !== undefined)
    return {
      conversationId: branch.conversation_id,
      branchId: branch.id,
      length: branch.length,
      isNew: false,
    };
  if (typeof conversation === "string") {
    throw new TracksideError(
      "config_invalid",
      `There is no conversation or branch ${id}. Leave it out to start a new one.`,
    );
  }
  const { messages } = conversation.log;
  const { tenant, agent, at } = given;
  yield* createConversation(db, { id, tenant, agent, at, runId: given.id, length: messages.length });
  if (messages.length > 0) yield* importMessages(db, { id, tenant, agent, at }, messages, codec);
  if (conversation.log.hasArtifacts || conversation.log.hasAttachments)
    yield* importArtifacts(db, { tenant, conversation_id: id, at }, conversation.log.artifacts);
  return { conversationId: id, branchId: id, length: messages.length, isNew: true };
}

export interface NewConversation {
  readonly id: string;
  readonly tenant: string;
  readonly agent: string | null;
  readonly at: number;
  readonly runId?: string;
  readonly length?: number;
  readonly title?: string;
}

const insertConversation = hot<{
  id: string;
  tenant: string;
  agent: string | null;
  at: number;
  body: string;
}>((db, value) =>
  db.insertInto("conversations").values({
    id: value("id"),
    tenant: value("tenant"),
    agent: value("agent"),
    created_at: value("at"),
    updated_at: value("at"),
    body: value("body"),
  }),
);

const insertBranch = hot<{
  id: string;
  conversation_id: string;
  tenant: string;
  parent_id: string | null;
  shared: number;
  length: number;
  run: string | null;
  at: number;
}>((db, value) =>
  db.insertInto("branches").values({
    id: value("id"),
    conversation_id: value("conversation_id"),
    tenant: value("tenant"),
    parent_id: value("parent_id"),
    shared: value("shared"),
    length: value("length"),
    active_run_id: value("run"),
    created_at: value("at"),
    body: '{"v":1}',
  }),
);

/** A conversation and its first branch, which has the same id. */
export function* createConversation(db: Builder, made: NewConversation): Operation<void> {
  const { id, tenant, agent, at, runId = null, length = 0, title } = made;
  const body = JSON.stringify({ v: 1, ...(title === undefined ? {} : { title }) });
  yield* insertConversation(db, { id, tenant, agent, at, body });
  yield* createBranch(db, { id, conversationId: id, tenant, parentId: null, shared: 0, length, runId, at });
}

export function* createBranch(
  db: Builder,
  made: {
    id: string;
    conversationId: string;
    tenant: string;
    parentId: string | null;
    shared: number;
    length: number;
    runId: string | null;
    at: number;
  },
): Operation<void> {
  yield* insertBranch(db, {
    id: made.id,
    conversation_id: made.conversationId,
    tenant: made.tenant,
    parent_id: made.parentId,
    shared: made.shared,
    length: made.length,
    run: made.runId,
    at: made.at,
  });
}

/** Messages from elsewhere, as a run that is over: a branch's log is what its runs logged. */
export function* importMessages(
  db: Builder,
  of: { id: string; tenant: string; agent: string | null; at: number },
  messages: Log["messages"],
  codec: Codec,
): Operation<void> {
  const runId = newId("run");
  const user: UserMessage = { id: `${runId}.user`, role: "user", parts: [] };
  const { stored, artifacts } = codec.encode(messages);
  yield* insertArtifacts(
    db,
    { tenant: of.tenant, conversation_id: of.id, run_id: runId, at: of.at },
    artifacts,
  );
  const body: RunBody = {
    v: 1,
    scope: { tenant: of.tenant },
    user,
    from: 0,
    outcome: null,
    usage: null,
    steps: 0,
  };
  yield* insertRun(db, {
    id: runId,
    tenant: of.tenant,
    agent: of.agent ?? "",
    kind: "import",
    status: "completed",
    conversation_id: of.id,
    branch_id: of.id,
    turn_ref: newId("turn"),
    root_run_id: runId,
    parent_run_id: null,
    retried_from: null,
    definition_digest: "",
    agent_id: null,
    engine: null,
    owner: null,
    fence: 1,
    cancel_reason: null,
    created_at: of.at,
    updated_at: of.at,
    ended_at: of.at,
    body: JSON.stringify(body),
  });
  const logged = { type: "logged", message_ids: messages.map(({ id }) => id) };
  const commit = {
    v: 1,
    at: of.at,
    key: "@import",
    result: null,
    messages: stored,
    notes: [logged],
    begun: [],
  };
  yield* rows(
    db.insertInto("commits").values({ run_id: runId, ord: 0, seq: 0, body: JSON.stringify(commit) }),
  );
}

const take = hot<{ id: string; run: string }>((db, value) =>
  db
    .updateTable("branches")
    .set({ active_run_id: value("run") })
    .where("id", "=", value("id"))
    .where("active_run_id", "is", null),
);

/** One run at a time writes to a branch: the first takes it (X7). */
function* takeBranch(db: Builder, branchId: string, runId: string): Operation<boolean> {
  return (yield* take(db, { id: branchId, run: runId })).changed > 0;
}

function* busy(db: Builder, branchId: string): Operation<TracksideError> {
  const [branch] = yield* rows(db.selectFrom("branches").select("active_run_id").where("id", "=", branchId));
  const run = branch?.active_run_id ?? "another run";
  return new TracksideError(
    "conversation_busy",
    `The conversation ${branchId} is busy with run ${run}. Wait for it, cancel it, or send with whenBusy "steer" or "queue".`,
  );
}

function* knownRequest(db: Builder, given: NewRun): Operation<OpenedRun | undefined> {
  if (given.requestId === undefined) return undefined;
  const [known] = yield* rows(
    db
      .selectFrom("requests")
      .select(["record_id", "digest"])
      .where("tenant", "=", given.tenant)
      .where("operation", "=", "start")
      .where("request_id", "=", given.requestId),
  );
  if (known === undefined) return undefined;
  if (known.digest !== requestDigest(given)) {
    throw new TracksideError(
      "config_invalid",
      `requestId: ${given.requestId} was used for another request (run ${known.record_id}). Use a new one for each request.`,
    );
  }
  const [run] = yield* rows(db.selectFrom("runs").selectAll().where("id", "=", known.record_id));
  if (run === undefined)
    throw new TracksideError("config_invalid", `The run ${known.record_id} of this requestId was deleted.`);
  const body = runBody.read(run.body, run.id);
  return {
    runId: run.id,
    turnRef: run.turn_ref,
    conversationId: run.conversation_id,
    branchId: run.branch_id,
    from: body.from,
    state: "known",
  };
}

function* keepRequest(db: Builder, given: NewRun, runId: string): Operation<void> {
  if (given.requestId === undefined) return;
  yield* rows(
    db.insertInto("requests").values({
      tenant: given.tenant,
      request_id: given.requestId,
      operation: "start",
      record_id: runId,
      digest: requestDigest(given),
      created_at: given.at,
    }),
  );
}

function requestDigest({ agent, user, conversation, clientTools }: NewRun): string {
  const place = typeof conversation === "string" ? conversation : (conversation?.id ?? null);
  const asked = [agent, place, JSON.stringify(user.parts)];
  return digestOf(clientTools.length === 0 ? asked : [...asked, JSON.stringify(clientTools)]);
}
