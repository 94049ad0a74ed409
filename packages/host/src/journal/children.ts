import type { UserMessage } from "trackside";
import {
  answerOf,
  type ChildAnswer,
  type Children,
  childMessage,
  childOut,
  Divergence,
  digestOf,
  type Effect,
  NOT_BEGUN,
  type RunContext,
  storedAnswer,
} from "trackside/engine";
import type { ChildInput, ChildOut } from "trackside/loop";
import { type Builder, type Operation, rows, type Store } from "../store/store.ts";
import type { RunsTable } from "../store/tables.ts";
import type { BranchLogs } from "./branch-logs.ts";
import { rememberOwner } from "./claim.ts";
import type { Codec } from "./codec.ts";
import type { Active } from "./durable-engine.ts";
import { contentDigest, createBranch } from "./open-run.ts";
import { runBody } from "./row-codecs.ts";
import type { RunBody } from "./rows.ts";
import { Parked } from "./run-host.ts";
import { insertArtifacts, insertRun, loadRun, messagesOf, pinDefinition } from "./run-records.ts";
import { type Running, runningOf } from "./running.ts";

/** What sub-agents need of their engine. */
export interface ChildHome {
  readonly store: Store;
  readonly codec: Codec;
  readonly logs: BranchLogs;
  owner(): string;
  now(): number;
  /** A run that is under way here. */
  under(runId: string): Active | undefined;
  run(given: Running): Active;
}

/**
 * Sub-agents as runs of their own, in a branch of their parent's conversation that nobody else sees. A child is taken up by
 * its parent: whoever goes on with the parent finds it by its id, where it got to or as it ended.
 */
export class DurableChildren implements Children {
  readonly #home: ChildHome;

  constructor(home: ChildHome) {
    this.#home = home;
  }

  async run(parent: RunContext, input: ChildInput, effect: Effect): Promise<ChildOut> {
    const { store } = this.#home;
    const id = input.run_id;
    const taken = await store.write((db) => takeChild(db, id, this.#home.owner(), this.#home.now()));
    if (taken?.ended_at != null) return this.#ended(parent, taken, effect);
    if (taken === undefined && effect.cancelled !== undefined)
      return childOut(id, NOT_BEGUN, undefined, effect.cancelled);
    const given =
      taken === undefined ? await this.#open(parent, input) : await this.#resumed(parent, input, taken);
    const active = this.#home.run(given);
    const listener = { cancelled: (reason: string) => active.host.cancelRun(reason) };
    effect.onCancel(listener);
    effect.signal.addEventListener("abort", () => {
      // Given up here: the run goes on elsewhere, and so do its children.
      if (effect.cancelled === undefined) active.host.give(new Error("the run goes on elsewhere"));
    });
    try {
      const state = await active.driven;
      return childOut(id, state, await answerOf(active.run, state), effect.cancelled);
    } catch (error) {
      if (error instanceof Divergence || error instanceof Parked)
        throw new Parked(`its sub-agent ${id} cannot go on: ${error.message}`);
      throw error;
    } finally {
      effect.offCancel(listener);
    }
  }

  /** Read from the store: another life of the parent may have seen it end. */
  async answer(_parent: RunContext, runId: string): Promise<ChildAnswer | undefined> {
    const { store, codec } = this.#home;
    const loaded = await store.read((db) => loadRun(db, runId, codec));
    const outcome = loaded?.body.outcome;
    if (loaded === undefined || outcome?.status !== "completed") return undefined;
    const { output_schema } = loaded.definition;
    const messages = await store.read((db) => messagesOf(db, loaded.commits, codec));
    const said = outcome.message_id === null ? undefined : messages.get(outcome.message_id)?.message;
    const text =
      said?.role === "assistant"
        ? said.parts.map((part) => (part.type === "text" ? part.text : "")).join("")
        : "";
    return storedAnswer(outcome, text, output_schema);
  }

  async #ended(parent: RunContext, row: RunsTable, effect: Effect): Promise<ChildOut> {
    const { outcome, usage } = runBody.read(row.body, row.id);
    const answer = outcome?.status === "completed" ? await this.answer(parent, row.id) : undefined;
    return childOut(row.id, { outcome, usage: usage ?? NO_USAGE }, answer, effect.cancelled);
  }

  async #open(parent: RunContext, input: ChildInput): Promise<Running> {
    const { store, codec, logs } = this.#home;
    const { given } = this.#parent(parent);
    const id = input.run_id;
    const bound = parent.agent.child(input.job);
    const path = [...parent.path, input.label];
    const user: UserMessage = {
      id: `${id}.user`,
      role: "user",
      parts: [{ type: "text", text: childMessage(input.job) }],
    };
    const definition = JSON.stringify(bound.definition);
    await store.write((db) =>
      openChild(db, codec, {
        id,
        user,
        path,
        parent: given,
        root: parent.root,
        agent: bound.definition.name,
        definition: { digest: digestOf(JSON.parse(definition)), body: definition },
        owner: this.#home.owner(),
        at: this.#home.now(),
      }),
    );
    return {
      runId: id,
      turnRef: given.turnRef,
      agent: given.agent,
      child: { bound, path, root: parent.root },
      request: { ...given.request, parts: user.parts, conversation: undefined, requestId: undefined },
      user,
      log: await logs.take(id, 0),
      from: 0,
      conversationId: given.conversationId,
      branchId: id,
      fence: 1,
      sink: given.sink,
      loaded: undefined,
    };
  }

  async #resumed(parent: RunContext, input: ChildInput, row: RunsTable): Promise<Running> {
    const { store, codec } = this.#home;
    const { given } = this.#parent(parent);
    const loaded = await store.read((db) => loadRun(db, row.id, codec));
    if (loaded === undefined) throw new Error(`the run ${row.id} is gone`);
    const running = await runningOf(this.#home, loaded, given.agent);
    const path = [...parent.path, input.label];
    return {
      ...running,
      child: { bound: parent.agent.child(input.job), path, root: parent.root },
      request: { ...running.request, approver: given.request.approver },
      sink: given.sink,
      wasLeft: row.owner === null,
    };
  }

  #parent(parent: RunContext): Active {
    const active = this.#home.under(parent.id);
    if (active === undefined) throw new Error(`the run ${parent.id} is not under way here`);
    return active;
  }
}

const NO_USAGE = {
  input_tokens: 0,
  cached_input_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
  model_calls: 0,
  cost: null,
};

/** A child that is there already: as it ended, or taken from whoever had it, as it was before that. */
function* takeChild(db: Builder, id: string, me: string, at: number): Operation<RunsTable | undefined> {
  const [row] = yield* rows(db.selectFrom("runs").selectAll().where("id", "=", id));
  if (row === undefined || row.ended_at !== null) return row;
  yield* rows(
    db
      .updateTable("runs")
      .set({ owner: me, fence: row.fence + 1, status: "running", updated_at: at })
      .where("id", "=", id),
  );
  if (row.owner !== null && row.owner !== me) yield* rememberOwner(db, id, row, row.owner);
  return row;
}

interface NewChild {
  readonly id: string;
  readonly user: UserMessage;
  readonly path: readonly string[];
  readonly parent: Running;
  readonly root: string;
  readonly agent: string;
  readonly definition: { readonly digest: string; readonly body: string };
  readonly owner: string;
  readonly at: number;
}

function* openChild(db: Builder, codec: Codec, made: NewChild): Operation<void> {
  const { id, user, path, parent, root, agent, definition, owner, at } = made;
  const { tenant } = parent.request.scope;
  const of = { tenant, conversation_id: parent.conversationId, run_id: id, at };
  const { stored, artifacts } = codec.encode([user]);
  yield* insertArtifacts(db, of, artifacts, contentDigest);
  yield* pinDefinition(db, definition.digest, definition.body);
  yield* createBranch(db, {
    id,
    conversationId: parent.conversationId,
    tenant,
    parentId: null,
    shared: 0,
    length: 0,
    runId: id,
    at,
  });
  const body: RunBody = {
    v: 1,
    scope: parent.request.scope,
    user: (stored[0] ?? user) as RunBody["user"], // the user's message, itself or by reference
    from: 0,
    path,
    outcome: null,
    usage: null,
    steps: 0,
  };
  yield* insertRun(db, {
    id,
    tenant,
    agent,
    kind: "agent",
    status: "running",
    conversation_id: parent.conversationId,
    branch_id: id,
    turn_ref: parent.turnRef,
    root_run_id: root,
    parent_run_id: parent.runId,
    retried_from: null,
    definition_digest: definition.digest,
    owner,
    fence: 1,
    cancel_reason: null,
    created_at: at,
    updated_at: at,
    ended_at: null,
    body: JSON.stringify(body),
  });
}
