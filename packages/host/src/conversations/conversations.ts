import { type LogEntry, type Message, TracksideError, type UserInput } from "trackside";
import { newId } from "trackside/engine";
import { importArtifact } from "../artifacts/import.ts";
import type { DurableEngine } from "../journal/durable-engine.ts";
import { createBranch, createConversation, importMessages } from "../journal/open-run.ts";
import { conversationBody } from "../journal/row-codecs.ts";
import { DEFAULT_TENANT } from "../runs/runs.ts";
import { type Builder, type Operation, rows } from "../store/store.ts";
import type { StartedTurn, StartOptions } from "../trackside.ts";
import { branchArtifacts } from "./branch-artifacts.ts";
import { branchMessages } from "./branch-log.ts";
import { eraseConversation } from "./erase.ts";
import { readLines, writeLines } from "./lines.ts";

export interface ConversationRecord {
  readonly id: string;
  readonly agent: string | null;
  readonly title: string | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly branches: readonly BranchRecord[];
}

export interface BranchRecord {
  readonly id: string;
  readonly conversation_id: string;
  /** The branch it left, and how many messages it shares with it. */
  readonly parent_id: string | null;
  readonly shared: number;
  readonly length: number;
  readonly active_run_id: string | null;
  readonly created_at: number;
}

export interface ConversationFilter {
  readonly tenant?: string;
  readonly agent?: string;
  readonly before?: number;
  readonly limit?: number;
}

type StartTurn = (agent: string, input: UserInput, options: StartOptions) => Promise<StartedTurn>;

export interface SendOptions extends Omit<StartOptions, "conversation"> {
  readonly tenant?: string;
  readonly agent?: string;
}

/** Conversations and their branches. A conversation's first branch has its id. */
export class Conversations {
  readonly #engine: DurableEngine;
  readonly #start: StartTurn;

  constructor(engine: DurableEngine, start: StartTurn) {
    this.#engine = engine;
    this.#start = start;
  }

  /** Sends a message: the next turn of this branch, by the agent it belongs to unless another one is named. */
  async send(
    branchId: string,
    input: UserInput,
    { tenant = DEFAULT_TENANT, agent, ...options }: SendOptions = {},
  ): Promise<StartedTurn> {
    const { store } = await this.#ready();
    const { agent: owner } = await store.read(function* (db) {
      const branch = yield* findBranch(db, tenant, branchId);
      return yield* findConversation(db, tenant, branch.conversation_id);
    });
    const name = agent ?? owner;
    if (name === null)
      throw new TracksideError(
        "config_invalid",
        `agent: the conversation ${branchId} belongs to none; name one`,
      );
    const scope = { ...options.scope, tenant };
    return this.#start(name, input, { ...options, scope, conversation: branchId });
  }

  async create(
    options: { readonly tenant?: string; readonly agent?: string; readonly title?: string } = {},
  ): Promise<ConversationRecord> {
    const engine = await this.#ready();
    const { tenant = DEFAULT_TENANT, agent = null, title } = options;
    const id = newId("conv");
    const at = engine.clock.now();
    await engine.store.write((db) =>
      createConversation(db, { id, tenant, agent, at, ...(title === undefined ? {} : { title }) }),
    );
    return this.get(id, { tenant });
  }

  /** The newest first. */
  async list(filter: ConversationFilter = {}): Promise<readonly ConversationRecord[]> {
    const { store } = await this.#ready();
    return store.read(function* (db) {
      let query = db
        .selectFrom("conversations")
        .selectAll()
        .where("tenant", "=", filter.tenant ?? DEFAULT_TENANT)
        .orderBy("updated_at", "desc")
        .orderBy("id", "desc")
        .limit(filter.limit ?? 50);
      if (filter.agent !== undefined) query = query.where("agent", "=", filter.agent);
      if (filter.before !== undefined) query = query.where("updated_at", "<", filter.before);
      const records: ConversationRecord[] = [];
      for (const row of yield* rows(query)) records.push(yield* conversationRecord(db, row));
      return records;
    });
  }

  async get(id: string, { tenant = DEFAULT_TENANT } = {}): Promise<ConversationRecord> {
    const { store } = await this.#ready();
    return store.read((db) => findConversation(db, tenant, id));
  }

  /** The messages of a branch, oldest first. */
  async messages(branchId: string, { tenant = DEFAULT_TENANT } = {}): Promise<readonly Message[]> {
    const entries = await this.#entries(branchId, tenant);
    return entries.filter((entry) => entry.role !== "projection");
  }

  /** A branch that has everything up to a message, and from there on its own (X7). */
  async branch(
    branchId: string,
    { at: messageId, tenant = DEFAULT_TENANT }: { readonly at: string; readonly tenant?: string },
  ): Promise<BranchRecord> {
    const engine = await this.#ready();
    const { codec, clock } = engine;
    return engine.store.write(function* (db) {
      const branch = yield* findBranch(db, tenant, branchId);
      const messages = yield* branchMessages(db, branchId, codec);
      const shared = messages.findIndex(({ id }) => id === messageId) + 1;
      if (shared === 0)
        throw new TracksideError("not_found", `There is no message ${messageId} in ${branchId}.`);
      if (splitsCall(messages, shared))
        throw new TracksideError(
          "config_invalid",
          `at: ${messageId} is in the middle of a step whose calls would lose their results. Name the step's last result, or the message before it.`,
        );
      const made = {
        id: newId("branch"),
        conversationId: branch.conversation_id,
        tenant,
        parentId: branchId,
        shared,
        length: shared,
        runId: null,
        at: clock.now(),
      };
      yield* createBranch(db, made);
      return yield* findBranch(db, tenant, made.id);
    });
  }

  /**
   * A branch as JSON lines: one for the conversation, one for each entry of its log, and one for each artifact of its runs.
   * Keys and signatures are not in it.
   */
  async export(branchId: string, { tenant = DEFAULT_TENANT } = {}): Promise<string> {
    const { store, codec } = await this.#ready();
    const exported = await store.read(function* (db) {
      const branch = yield* findBranch(db, tenant, branchId);
      const { agent, title } = yield* findConversation(db, tenant, branch.conversation_id);
      const messages = yield* branchMessages(db, branchId, codec);
      return { id: branchId, agent, title, messages, artifacts: yield* branchArtifacts(db, branch) };
    });
    return writeLines(exported);
  }

  /** A conversation from JSON lines, as `export` writes them, under a new id. Everything is checked first. */
  async import(text: string, { tenant = DEFAULT_TENANT } = {}): Promise<ConversationRecord> {
    const engine = await this.#ready();
    const { agent, title, messages, artifacts } = readLines(text);
    const id = newId("conv");
    const at = engine.clock.now();
    await engine.store.write(function* (db) {
      const made = { id, tenant, agent, at, length: messages.length, ...(title === null ? {} : { title }) };
      yield* createConversation(db, made);
      if (messages.length > 0)
        yield* importMessages(db, { id, tenant, agent, at }, [...messages], engine.codec);
      for (const kept of artifacts) yield* importArtifact(db, { tenant, conversation_id: id, at }, kept);
    });
    return this.get(id, { tenant });
  }

  /** Erases a conversation: content, artifacts and journal, everywhere. The audit holds digests and still verifies (X12). */
  async delete(id: string, { tenant = DEFAULT_TENANT } = {}): Promise<void> {
    const engine = await this.#ready();
    await eraseConversation(engine, tenant, id);
  }

  async #entries(branchId: string, tenant: string): Promise<LogEntry[]> {
    const { store, codec } = await this.#ready();
    return store.read(function* (db) {
      yield* findBranch(db, tenant, branchId);
      return yield* branchMessages(db, branchId, codec);
    });
  }

  async #ready(): Promise<DurableEngine> {
    await this.#engine.open();
    return this.#engine;
  }
}

export function* findBranch(db: Builder, tenant: string, id: string): Operation<BranchRecord> {
  const [row] = yield* rows(
    db.selectFrom("branches").selectAll().where("id", "=", id).where("tenant", "=", tenant),
  );
  if (row === undefined) throw new TracksideError("not_found", `There is no conversation or branch ${id}.`);
  const { body: _body, tenant: _tenant, ...branch } = row;
  return branch;
}

function* findConversation(db: Builder, tenant: string, id: string): Operation<ConversationRecord> {
  const [row] = yield* rows(
    db.selectFrom("conversations").selectAll().where("id", "=", id).where("tenant", "=", tenant),
  );
  if (row === undefined) throw new TracksideError("not_found", `There is no conversation ${id}.`);
  return yield* conversationRecord(db, row);
}

function* conversationRecord(
  db: Builder,
  row: { id: string; agent: string | null; created_at: number; updated_at: number; body: string },
): Operation<ConversationRecord> {
  const branches = yield* rows(
    db
      .selectFrom("branches")
      .selectAll()
      .where("conversation_id", "=", row.id)
      // The others are sub-agents' own.
      .where((where) => where.or([where("parent_id", "is not", null), where("id", "=", row.id)]))
      .orderBy("created_at")
      .orderBy("id"),
  );
  const { title = null } = conversationBody.read(row.body, row.id);
  return {
    id: row.id,
    agent: row.agent,
    title,
    created_at: row.created_at,
    updated_at: row.updated_at,
    branches: branches.map(({ body: _body, tenant: _tenant, ...branch }) => branch),
  };
}

/** Whether cutting here would leave a call without its result: providers refuse that. */
function splitsCall(messages: readonly LogEntry[], at: number): boolean {
  const kept = messages.slice(0, at);
  const done = new Set(kept.flatMap((one) => (one.role === "tool" ? [one.call_id] : [])));
  return kept.some(
    (one) =>
      one.role === "assistant" &&
      one.parts.some((part) => part.type === "tool_call" && !done.has(part.call_id)),
  );
}
