import type { UserMessage } from "trackside";
import {
  answerOf,
  type BoundAgent,
  type ChildAnswer,
  type Children,
  childOut,
  digestOf,
  type Effect,
  NOT_BEGUN,
  openingOf,
  type RunContext,
  storedAnswer,
} from "trackside/engine";
import { type ChildInput, type ChildOut, Divergence } from "trackside/loop";
import { sourcesIn } from "trackside/schema";
import { holdsFence } from "../store/fence.ts";
import { type Builder, type Operation, rows, type Store } from "../store/store.ts";
import type { RunsTable } from "../store/tables.ts";
import type { BranchLogs } from "./branch-logs.ts";
import { rememberOwner } from "./claim.ts";
import type { Codec } from "./codec.ts";
import type { Active } from "./durable-engine.ts";
import { Fenced } from "./fenced.ts";
import { createBranch } from "./open-run.ts";
import { Parked, parkedChild } from "./park.ts";
import { runBody } from "./row-codecs.ts";
import type { RunBody } from "./rows.ts";
import {
  insertArtifacts,
  insertRun,
  type LoadedRun,
  loadRun,
  messagesOf,
  pinDefinition,
} from "./run-records.ts";
import { type Running, runningOf } from "./running.ts";

/** What sub-agents need of their engine. */
export interface ChildHome {
  /** The store for runs under way: they wait where a caller is told. */
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
 * its parent: whoever goes on with the parent finds it by its id, where it got to or as it ended. Whoever lost the parent
 * can neither begin a child nor take one up (X4).
 */
export class DurableChildren implements Children {
  readonly #home: ChildHome;

  constructor(home: ChildHome) {
    this.#home = home;
  }

  async run(context: RunContext, input: ChildInput, effect: Effect): Promise<ChildOut> {
    const id = input.run_id;
    await this.#home.under(id)?.driven.catch(() => {}); // an earlier life of it comes to its end here first
    const parent = this.#parent(context);
    const taken = await this.#take(parent, id);
    if (taken?.ended_at != null) return this.#ended(context, taken, effect);
    if (taken?.status === "parked") throw parkedAs(taken);
    if (taken === undefined && effect.cancelled !== undefined)
      return childOut(id, NOT_BEGUN, undefined, effect.cancelled);
    const given =
      taken === undefined
        ? await this.#open(context, parent, input)
        : await this.#resumed(context, parent, input, taken);
    if (isGivenUp(effect)) throw new Fenced(id);
    return this.#drive(this.#home.run(given), effect);
  }

  /** Read from the store: another life of the parent may have seen it end. */
  async answer(_parent: RunContext, runId: string): Promise<ChildAnswer | undefined> {
    const { store, codec } = this.#home;
    const loaded = await store.read((db) => loadRun(db, runId, codec));
    return loaded && answerFrom(store, codec, loaded);
  }

  async #drive(active: Active, effect: Effect): Promise<ChildOut> {
    const { runId } = active.given;
    const listener = { cancelled: (reason: string) => active.host.cancelRun(reason) };
    effect.onCancel(listener);
    const leave = () => {
      // Given up here: the run goes on elsewhere, and so do its children.
      if (isGivenUp(effect)) active.host.give(new Fenced(runId));
    };
    effect.signal.addEventListener("abort", leave);
    try {
      const state = await active.driven;
      return childOut(runId, state, await answerOf(active.run, state), effect.cancelled);
    } catch (error) {
      if (error instanceof Parked) throw parkedChild(runId, error.code, error.reason);
      if (error instanceof Divergence) {
        const why = new Parked(error.message, "diverged");
        throw parkedChild(runId, why.code, why.reason);
      }
      throw error;
    } finally {
      effect.offCancel(listener);
      effect.signal.removeEventListener("abort", leave);
    }
  }

  async #take(parent: Running, id: string): Promise<RunsTable | undefined> {
    const { store } = this.#home;
    for (;;) {
      const taken = await store.write((db) =>
        takeChild(db, parent, id, this.#home.owner(), this.#home.now()),
      );
      if (taken !== "changed") return taken;
    }
  }

  async #ended(parent: RunContext, row: RunsTable, effect: Effect): Promise<ChildOut> {
    const { outcome, usage } = runBody.read(row.body, row.id);
    const answer = outcome?.status === "completed" ? await this.answer(parent, row.id) : undefined;
    return childOut(row.id, { outcome, usage: usage ?? NOT_BEGUN.usage }, answer, effect.cancelled);
  }

  async #open(context: RunContext, parent: Running, input: ChildInput): Promise<Running> {
    const { store, codec, logs } = this.#home;
    const id = input.run_id;
    const made = newChild(context, parent, input);
    const { user, bound, path, root } = made;
    const place = { engine: null, owner: this.#home.owner(), at: this.#home.now() };
    await store.write((db) => openChild(db, codec, { ...made, ...place }));
    return {
      runId: id,
      turnRef: parent.turnRef,
      agent: parent.agent,
      child: { bound, path, root },
      request: { ...parent.request, parts: user.parts, conversation: undefined, requestId: undefined },
      user,
      log: await logs.take(id, 0),
      from: 0,
      conversationId: parent.conversationId,
      branchId: id,
      fence: 1,
      sink: parent.sink,
      loaded: undefined,
    };
  }

  async #resumed(context: RunContext, parent: Running, input: ChildInput, row: RunsTable): Promise<Running> {
    const { store, codec } = this.#home;
    const loaded = await store.read((db) => loadRun(db, row.id, codec));
    if (loaded === undefined) throw new Fenced(row.id); // erased, with everything around it
    const running = await runningOf(this.#home, loaded, parent.agent);
    const path = [...context.path, input.label];
    return {
      ...running,
      child: { bound: context.agent.childFor(input), path, root: context.root },
      request: { ...running.request, approver: parent.request.approver },
      sink: parent.sink,
      wasLeft: row.owner === null,
    };
  }

  #parent({ id }: RunContext): Running {
    const active = this.#home.under(id);
    if (active === undefined) throw new Fenced(id);
    return active.given;
  }
}

/** Its process no longer works on it, and that is no cancel. */
function isGivenUp({ signal, cancelled }: Effect): boolean {
  return signal.aborted && cancelled === undefined;
}

function parkedAs(row: RunsTable): Parked {
  const { parked } = runBody.read(row.body, row.id);
  return parkedChild(row.id, parked?.code ?? "recovery_failed", parked?.message ?? "");
}

/** What a run that is over came to, for whoever waits for it. */
export async function answerFrom(
  store: Store,
  codec: Codec,
  { body: { outcome }, definition, commits }: LoadedRun,
): Promise<ChildAnswer | undefined> {
  if (outcome?.status !== "completed") return undefined;
  const messages = await store.read((db) => messagesOf(db, commits, codec));
  const said = outcome.message_id === null ? undefined : messages.get(outcome.message_id)?.message;
  const text =
    said?.role === "assistant"
      ? said.parts.map((part) => (part.type === "text" ? part.text : "")).join("")
      : "";
  const sources = sourcesIn([...messages.values()].map(({ message }) => message));
  return storedAnswer(outcome, text, definition.output_schema, sources);
}

/**
 * A child that is there already: as it ended or was parked, or taken from whoever had it, as it was before that. `changed`
 * when it did in between.
 */
function* takeChild(
  db: Builder,
  parent: Running,
  id: string,
  me: string,
  at: number,
): Operation<RunsTable | "changed" | undefined> {
  if (!(yield* holdsFence(db, parent.runId, parent.fence))) throw new Fenced(parent.runId);
  const [row] = yield* rows(db.selectFrom("runs").selectAll().where("id", "=", id));
  if (row === undefined || row.ended_at !== null || row.status === "parked") return row;
  const { fence, owner } = row;
  const taken = yield* rows(
    db
      .updateTable("runs")
      .set({ owner: me, fence: fence + 1, updated_at: at })
      .where("id", "=", id)
      .where("fence", "=", fence)
      .where("ended_at", "is", null)
      .where("status", "!=", "parked")
      .returning("body"),
  );
  const [now] = taken;
  if (now === undefined) return "changed";
  if (owner !== null && owner !== me) yield* rememberOwner(db, id, now, owner);
  return row;
}

interface NewChild {
  readonly id: string;
  readonly user: UserMessage;
  readonly bound: BoundAgent;
  readonly path: readonly string[];
  readonly parent: Running;
  readonly root: string;
  /** Kept with it where its loop is elsewhere. */
  readonly job?: ChildInput;
}

/** A sub-agent as its parent makes it, or whoever a node of its workflow is for. */
export function newChild(context: RunContext, parent: Running, input: ChildInput): NewChild {
  return { id: input.run_id, user: openingOf(context, input), parent, ...childOf(context, input) };
}

/** Who it is, whether or not it is there already. */
export function childOf(
  { agent, path, root }: RunContext,
  input: ChildInput,
): Pick<NewChild, "bound" | "path" | "root"> {
  return { bound: agent.childFor(input), path: [...path, input.label], root };
}

export function* openChild(
  db: Builder,
  codec: Codec,
  made: NewChild & { readonly engine: string | null; readonly owner: string | null; readonly at: number },
): Operation<void> {
  const { id, user, bound, path, parent, root, job, engine, owner, at } = made;
  const agent = bound.definition.name;
  const pinned = JSON.stringify(bound.definition);
  const definition = { digest: digestOf(JSON.parse(pinned)), body: pinned };
  if (!(yield* holdsFence(db, parent.runId, parent.fence))) throw new Fenced(parent.runId);
  const { tenant } = parent.request.scope;
  const of = { tenant, conversation_id: parent.conversationId, run_id: id, at };
  const { stored, artifacts } = codec.encode([user]);
  yield* insertArtifacts(db, of, artifacts);
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
    ...(job === undefined ? {} : { job }),
    outcome: null,
    usage: null,
    steps: 0,
  };
  yield* insertRun(db, {
    id,
    tenant,
    agent,
    kind: bound.definition.workflow === undefined ? "agent" : "workflow",
    status: "running",
    conversation_id: parent.conversationId,
    branch_id: id,
    turn_ref: parent.turnRef,
    root_run_id: root,
    parent_run_id: parent.runId,
    retried_from: null,
    definition_digest: definition.digest,
    agent_id: null, // it is made by its parent
    engine,
    owner,
    fence: 1,
    cancel_reason: null,
    created_at: at,
    updated_at: at,
    ended_at: null,
    body: JSON.stringify(body),
  });
}
