import { type Expression, type ExpressionBuilder, type SqlBool, sql } from "kysely";
import {
  type DurableEvent,
  type JsonObject,
  type RunResult,
  TracksideError,
  type UserMessage,
} from "trackside";
import { wake } from "../approvals/records.ts";
import type { DurableEngine } from "../journal/durable-engine.ts";
import { runBody } from "../journal/row-codecs.ts";
import { openingMessage } from "../journal/run-records.ts";
import { openBelow } from "../journal/tree.ts";
import { type Builder, type Operation, rows } from "../store/store.ts";
import type { RunsTable, Tables } from "../store/tables.ts";
import { endParkedTree } from "./end-parked.ts";
import { runEvents, type StreamedEvent, storedEvents, storedTree } from "./events.ts";
import { type SentRequest, sentRequests } from "./requests.ts";
import { retryRun } from "./retry.ts";
import { type RunRecord, runRecord } from "./run-record.ts";

export interface RunFilter {
  readonly tenant?: string | undefined;
  readonly status?: RunRecord["status"] | readonly RunRecord["status"][] | undefined;
  readonly kind?: RunRecord["kind"] | undefined;
  /** The agent's name, or the workflow's. */
  readonly agent?: string | undefined;
  readonly conversation?: string | undefined;
  /** Created at or after, in Unix ms; and before. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** A piece of its id, or of what the user said. */
  readonly search?: string | undefined;
  /** The sub-agents of this run. Without it, runs that are nobody's. */
  readonly parent?: string | undefined;
  /** Runs before this one, as the last of a page. */
  readonly before?: string | undefined;
  readonly limit?: number | undefined;
}

export interface RunOpening {
  readonly message: UserMessage;
  /** Null when it is gone. */
  readonly definition: JsonObject | null;
  /** How often an effect was begun again because its process died, by key. */
  readonly recoveries: Readonly<Record<string, number>>;
}

export const DEFAULT_TENANT = "default";

/** Every run there is, wherever it runs. */
export class Runs {
  readonly #engine: DurableEngine;
  readonly #redact: <T>(value: T) => T;

  /** `redact` takes secrets out of what leaves the host. */
  constructor(engine: DurableEngine, redact: <T>(value: T) => T = (value) => value) {
    this.#engine = engine;
    this.#redact = redact;
  }

  /** The newest first. */
  async list(filter: RunFilter = {}): Promise<readonly RunRecord[]> {
    const { store } = await this.#ready();
    return store.read(function* (db) {
      let query = db
        .selectFrom("runs")
        .selectAll()
        .where("tenant", "=", filter.tenant ?? DEFAULT_TENANT)
        .where("kind", "!=", "import")
        .orderBy("created_at", "desc")
        .orderBy("id", "desc")
        .limit(filter.limit ?? 50);
      query =
        filter.parent === undefined
          ? query.where("parent_run_id", "is", null)
          : query.where("parent_run_id", "=", filter.parent);
      if (filter.status !== undefined) query = query.where("status", "in", [filter.status].flat());
      if (filter.kind !== undefined) query = query.where("kind", "=", filter.kind);
      if (filter.agent !== undefined) query = query.where("agent", "=", filter.agent);
      if (filter.conversation !== undefined) query = query.where("conversation_id", "=", filter.conversation);
      if (filter.from !== undefined) query = query.where("created_at", ">=", filter.from);
      if (filter.to !== undefined) query = query.where("created_at", "<", filter.to);
      if (filter.search !== undefined) query = query.where(saying(filter.search));
      if (filter.before !== undefined) query = query.where("id", "<", filter.before);
      return (yield* rows(query)).map(runRecord);
    });
  }

  async get(id: string, { tenant = DEFAULT_TENANT } = {}): Promise<RunRecord> {
    const { store } = await this.#ready();
    return runRecord(await store.read((db) => findRun(db, tenant, id)));
  }

  /** What it began with: the user's message and the definition it is pinned to; and how often effects were begun again. */
  async opening(id: string, { tenant = DEFAULT_TENANT } = {}): Promise<RunOpening> {
    const { store, codec } = await this.#ready();
    const found = await store.read(function* (db) {
      const row = yield* findRun(db, tenant, id);
      const { user, recoveries = {} } = runBody.read(row.body, id);
      const [pinned] = yield* rows(
        db.selectFrom("definitions").select("body").where("digest", "=", row.definition_digest),
      );
      const definition = pinned === undefined ? null : (JSON.parse(pinned.body) as JsonObject); // as it was pinned
      return { message: yield* openingMessage(db, user, codec), definition, recoveries };
    });
    return this.#redact(found);
  }

  /** Settles as the run does, wherever it runs: with its result, or rejected with its error. */
  async result(id: string, { tenant = DEFAULT_TENANT } = {}): Promise<RunResult<unknown>> {
    await this.#ready();
    return this.#engine.result(tenant, id);
  }

  /** Every durable event so far; with `children` also those of its sub-agents, each between its start and its end. */
  async events(
    id: string,
    {
      tenant = DEFAULT_TENANT,
      after = 0,
      children = false,
    }: { readonly tenant?: string; readonly after?: number; readonly children?: boolean } = {},
  ): Promise<readonly DurableEvent[]> {
    const { store, codec } = await this.#ready();
    const events = await store.read(function* (db) {
      yield* findRun(db, tenant, id);
      return yield* (children ? storedTree : storedEvents)(db, id, after, codec);
    });
    return this.#redact(events);
  }

  /**
   * Events of a run and its sub-agents from a cursor to the run's end, live text included. Come back with the last cursor
   * and miss nothing (E4).
   */
  async *follow(
    id: string,
    {
      tenant = DEFAULT_TENANT,
      after = "0",
      signal,
    }: { tenant?: string; after?: string; signal?: AbortSignal } = {},
  ): AsyncGenerator<StreamedEvent> {
    const { store, codec, bus } = await this.#ready();
    await store.read((db) => findRun(db, tenant, id));
    for await (const { event, cursor } of runEvents({ store, codec, bus }, id, after, signal))
      yield { event: this.#redact(event), cursor };
  }

  /** Stops a run and its sub-agents, wherever they are. A parked one ends at once. */
  async cancel(id: string, { tenant = DEFAULT_TENANT, reason = "cancelled" } = {}): Promise<RunRecord> {
    const engine = await this.#ready();
    const row = await engine.store.read((db) => findRun(db, tenant, id));
    if (row.ended_at !== null) return runRecord(row);
    if (row.status === "parked") await endParkedTree(engine, row, reason);
    else await engine.cancel(id, reason);
    return this.get(id, { tenant });
  }

  /** Lets a parked run go on, once what parked it was put right: with it everything of its tree that is parked. */
  async resume(id: string, { tenant = DEFAULT_TENANT } = {}): Promise<RunRecord> {
    const engine = await this.#ready();
    const at = engine.clock.now();
    await engine.store.write(function* (db) {
      const row = yield* findRun(db, tenant, id);
      if (row.status !== "parked")
        throw new TracksideError(
          "config_invalid",
          `The run ${id} is ${row.status}, not parked: there is nothing to resume.`,
        );
      const root = yield* findRun(db, tenant, row.root_run_id);
      const tree = [root, ...(yield* openBelow(db, root))];
      for (const one of tree.filter(({ status }) => status === "parked")) yield* unpark(db, one, at);
      yield* wake(db, root.id, "queued", at);
    });
    engine.claim();
    return this.get(id, { tenant });
  }

  /** A new run on a new branch from one of its steps; nothing earlier runs again (X13). */
  async retry(
    id: string,
    {
      tenant = DEFAULT_TENANT,
      fromStep,
      node,
    }: { tenant?: string; fromStep?: number | undefined; node?: string | undefined } = {},
  ): Promise<RunRecord> {
    const engine = await this.#ready();
    const row = await engine.store.read((db) => findRun(db, tenant, id));
    const made = await retryRun(engine, row, { step: fromStep, node });
    engine.claim();
    return this.get(made, { tenant });
  }

  /**
   * Its requests to models as they were really sent (R4): what rails made of them, and what the turn had for itself. Those
   * of one step if asked for; with 0 those before the first, the planner's among them. Sub-agents are runs of their own.
   */
  async requests(
    id: string,
    { tenant = DEFAULT_TENANT, step }: { readonly tenant?: string; readonly step?: number | undefined } = {},
  ): Promise<readonly SentRequest[]> {
    const engine = await this.#ready();
    const row = await engine.store.read((db) => findRun(db, tenant, id));
    return this.#redact(await sentRequests(engine, row, step));
  }

  /** Everything there is of a run, as JSON: its record, its pinned definition, its events and its approvals. */
  async export(id: string, { tenant = DEFAULT_TENANT } = {}): Promise<Record<string, unknown>> {
    const engine = await this.#ready();
    const record = await this.get(id, { tenant });
    const events = await this.events(id, { tenant });
    const approvals = await engine.approvals.list({ tenant, runId: id, limit: 10_000 });
    const children = await this.list({ tenant, parent: id, limit: 10_000 });
    const { definition } = await this.opening(id, { tenant });
    const sub_agents = children.map((child) => child.id); // each is exported by itself
    return this.#redact({ v: 1, run: record, definition, events, approvals, sub_agents });
  }

  async #ready(): Promise<DurableEngine> {
    await this.#engine.open();
    return this.#engine;
  }
}

/** Runs with these words in their id or in what the user said. */
function saying(words: string): (where: ExpressionBuilder<Tables, "runs">) => Expression<SqlBool> {
  const like = (text: string) => `%${text.replaceAll(/[\\%_]/g, "\\$&")}%`;
  const written = JSON.stringify(words).slice(1, -1);
  return (where) =>
    where.or([
      sql<boolean>`${where.ref("id")} like ${like(words)} escape '\\'`,
      sql<boolean>`${where.ref("body")} like ${like(written)} escape '\\'`,
    ]);
}

function* unpark(db: Builder, row: RunsTable, at: number): Operation<void> {
  const { id, body: text, engine, parent_run_id } = row;
  // Another engine begins it once more; a sub-agent is begun by its parent.
  const status = engine !== null && parent_run_id === null ? "queued" : "running";
  const { parked: _parked, recoveries: _recoveries, ...body } = runBody.read(text, id);
  yield* rows(
    db
      .updateTable("runs")
      .set({ status, owner: null, updated_at: at, body: JSON.stringify(body) })
      .where("id", "=", id)
      .where("status", "=", "parked"),
  );
}

export function* findRun(db: Builder, tenant: string, id: string): Operation<RunsTable> {
  const [row] = yield* rows(
    db.selectFrom("runs").selectAll().where("id", "=", id).where("tenant", "=", tenant),
  );
  if (row === undefined) throw new TracksideError("not_found", `There is no run ${id}.`);
  return row;
}
