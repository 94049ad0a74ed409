import assert from "node:assert/strict";
import type { Insertable } from "kysely";
import { rows, type Store, type Work } from "../store.ts";
import { StoreError, type StoreFault } from "../store-error.ts";
import type { RunsTable } from "../tables.ts";

/** An empty database. Every behaviour gets its own. */
export interface Place {
  /** A store on it that is not open yet. Several of them behave as several processes do. */
  store(): Store;
}

/** One thing every store must do. It throws when the store does not. */
export interface StoreBehaviour {
  readonly title: string;
  readonly check: (place: Place) => Promise<void>;
}

export function behaviour(title: string, check: StoreBehaviour["check"]): StoreBehaviour {
  return { title, check };
}

export async function opened(place: Place): Promise<Store> {
  const store = place.store();
  await store.open();
  return store;
}

export function aRun(id: string, more: Partial<Insertable<RunsTable>> = {}): Insertable<RunsTable> {
  return {
    id,
    tenant: "t",
    agent: "a",
    kind: "agent",
    status: "running",
    conversation_id: "c",
    branch_id: "b",
    turn_ref: "turn",
    root_run_id: id,
    parent_run_id: null,
    retried_from: null,
    engine: null,
    definition_digest: "d",
    agent_id: null,
    owner: "p1",
    fence: 1,
    cancel_reason: null,
    created_at: 1,
    updated_at: 1,
    ended_at: null,
    body: '{"v":1}',
    ...more,
  };
}

export function insertRuns(...ids: readonly string[]): Work<void> {
  return function* (db) {
    for (const id of ids) yield* rows(db.insertInto("runs").values(aRun(id)));
  };
}

/** The journal of a run, as `ord:body`. */
export async function journal(store: Store, runId: string): Promise<string[]> {
  return store.read(function* (db) {
    const found = yield* rows(
      db.selectFrom("commits").select(["ord", "body"]).where("run_id", "=", runId).orderBy("ord"),
    );
    return found.map(({ ord, body }) => `${ord}:${body}`);
  });
}

export function wake(what: string): Work<void> {
  return function* (db) {
    yield* rows(db.insertInto("wakes").values({ run_id: "r", what, at: 1 }));
  };
}

/** What wakes say, in their order: the one table that takes the same thing twice. */
export async function wakes(store: Store): Promise<string[]> {
  return store.read(function* (db) {
    const found = yield* rows(db.selectFrom("wakes").select("what").orderBy("n"));
    return found.map(({ what }) => what);
  });
}

export async function refused(
  promise: Promise<unknown>,
  fault: StoreFault,
  says: RegExp,
): Promise<StoreError> {
  const error = await promise.then(
    () => assert.fail(`it should have been refused (${fault})`),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof StoreError, `${error} is no StoreError`);
  assert.equal(error.code, "store_failed");
  assert.equal(error.fault, fault, error.message);
  assert.match(error.message, says);
  return error;
}
