import {
  type AgentBinding,
  AgentConfigError,
  type ConfigIssue,
  type JsonObject,
  TracksideError,
} from "trackside";
import { definitionJson, digestOf, newId } from "trackside/engine";
import { appendAudit } from "../audit/index.ts";
import type { DurableEngine } from "../journal/durable-engine.ts";
import { DEFAULT_TENANT } from "../runs/runs.ts";
import type { Cipher } from "../secrets/index.ts";
import { type Builder, changed, type Operation, rows } from "../store/store.ts";
import { StoreError } from "../store/store-error.ts";
import type { AgentsTable, AgentVersionsTable } from "../store/tables.ts";
import { agentBody, agentVersionBody, findAgent, findByName, findVersion } from "./agent-rows.ts";
import { type AgentChange, diffDefinitions } from "./diff.ts";
import { issueAt } from "./issues.ts";
import { withoutLiterals } from "./servers.ts";
import type { Toolkit } from "./toolkit.ts";

/** An agent as it is now. */
export interface AgentRecord {
  readonly id: string;
  readonly name: string;
  readonly tenant: string;
  /** Goes up with every save; 1 for agents in code. */
  readonly version: number;
  /** Of the definition. */
  readonly digest: string;
  /** As `toJSON` writes it (A1). */
  readonly definition: JsonObject;
  /** Works its active plan by itself. Beside the definition, not in it (W1). */
  readonly autonomous_mode: boolean;
  /** `code`: read-only here, since it is defined where the host is made. */
  readonly source: "stored" | "code";
  readonly created_at: number;
  readonly updated_at: number;
  readonly updated_by: string;
  /** An agent in code has its name, and is the one that runs. Give it another one, or delete it. */
  readonly shadowed?: true;
}

/** One version of a stored agent, without its definition. */
export interface AgentVersionFacts {
  readonly agent_id: string;
  readonly n: number;
  readonly name: string;
  readonly digest: string;
  readonly created_at: number;
  readonly by: string;
  readonly note: string | null;
  /** The version it brought back. */
  readonly restored_from: number | null;
}

export interface AgentVersion extends AgentVersionFacts {
  readonly definition: JsonObject;
  readonly autonomous_mode: boolean;
}

/** What an agent is made of. */
export interface AgentInput {
  readonly definition: unknown;
  /** Left out: as it was; false for a new one. */
  readonly autonomous_mode?: boolean;
}

interface OfTenant {
  readonly tenant?: string;
}

/** Who does it, and why. */
export interface Author extends OfTenant {
  readonly by: string;
  readonly note?: string;
}

export interface ListAgents extends OfTenant {
  /** Part of a name, whatever its case. */
  readonly search?: string;
  readonly limit?: number;
  /** Those after this name, as the last of a page. */
  readonly after?: string;
}

export type Validation =
  | { readonly ok: true; readonly issues: readonly [] }
  | { readonly ok: false; readonly issues: readonly ConfigIssue[] };

/** Somebody else saved it meanwhile. */
export class VersionConflictError extends TracksideError {
  override readonly name: string = "VersionConflictError";
  readonly current: { readonly version: number; readonly by: string; readonly at: number };

  constructor(agent: string, given: number, current: VersionConflictError["current"]) {
    super(
      "version_conflict",
      `The agent "${agent}" is at version ${current.version}, saved by ${current.by}; ${given} was given. Load it again and repeat your change.`,
    );
    this.current = current;
  }
}

export interface AgentsInit {
  readonly engine: DurableEngine;
  readonly toolkit: Toolkit;
  readonly cipher: Cipher;
  /** Agents in code. */
  readonly code: readonly AgentBinding[];
  readonly open: () => Promise<void>;
}

const MOST_LISTED = 1000;

/**
 * Agents of a host: those in code, and those made at run time, each of one tenant and with every version it had. Wherever
 * one is named its id will do, too.
 *
 * @example
 * await trackside.agents.create({ definition: { name: "clerk", model: "openai:gpt-4o" } }, { by: "ann" });
 * await trackside.run("clerk", "Hello");
 */
export class Agents {
  readonly #init: AgentsInit;
  readonly #code: ReadonlyMap<string, AgentBinding>;
  /** Since when the agents in code are here. */
  readonly #since: number;

  constructor(init: AgentsInit) {
    this.#init = init;
    this.#code = new Map(init.code.map((agent) => [agent.definition.name, agent]));
    this.#since = init.engine.clock.now();
  }

  /** By name, those in code among the others. */
  async list(filter: ListAgents = {}): Promise<readonly AgentRecord[]> {
    const { tenant = DEFAULT_TENANT, search = "", after, limit = 100 } = filter;
    const wanted = search.toLowerCase();
    const most = Math.max(0, Math.min(limit, MOST_LISTED));
    const isWanted = ({ name }: { name: string }) => name.toLowerCase().includes(wanted);
    const stored = await this.#read(function* (db) {
      let names = db.selectFrom("agents").select(["id", "name"]).where("tenant", "=", tenant).orderBy("name");
      if (after !== undefined) names = names.where("name", ">", after);
      if (wanted === "") names = names.limit(most); // a database folds the case of some letters only
      const ids = (yield* rows(names)).filter(isWanted).slice(0, most);
      if (ids.length === 0) return [];
      return yield* rows(
        db
          .selectFrom("agents")
          .selectAll()
          .where("tenant", "=", tenant)
          .where(
            "id",
            "in",
            ids.map(({ id }) => id),
          ),
      );
    });
    const code = [...this.#code.values()]
      .map((agent) => this.#ofCode(agent, tenant))
      .filter((one) => isWanted(one) && (after === undefined || byName(one.name, after) > 0));
    return [...code, ...stored.map((row) => this.#record(row))]
      .sort((a, b) => byName(a.name, b.name))
      .slice(0, most);
  }

  async get(name: string, { tenant = DEFAULT_TENANT }: OfTenant = {}): Promise<AgentRecord> {
    const code = this.#inCode(name);
    if (code !== undefined) return this.#ofCode(code, tenant);
    const row = await this.#read((db) => findAgent(db, tenant, name));
    if (row === undefined) throw await this.#unknown(tenant, name);
    return this.#record(row);
  }

  async create(input: AgentInput, author: Author): Promise<AgentRecord> {
    const { tenant = DEFAULT_TENANT } = author;
    const made = await this.#checked(input, tenant);
    return this.#write(tenant, made.name, (db, at) =>
      this.#insert(db, { ...made, autonomous_mode: input.autonomous_mode ?? false }, author, at),
    );
  }

  /** Saves over the version it was read at. Of two who save the same one the first wins; the other is told who that was. */
  async save(
    name: string,
    input: AgentInput,
    options: Author & { readonly version: number },
  ): Promise<AgentRecord> {
    const { tenant = DEFAULT_TENANT } = options;
    this.#refuseCode(name);
    const made = await this.#checked(input, tenant);
    return this.#write(tenant, made.name, (db, at) =>
      this.#update(db, name, { ...input, ...made }, options, at),
    );
  }

  /**
   * Deletes it. Runs under way keep the definition they are pinned to. Its versions can still be read by its id, which the
   * audit names; with `erase` they are gone, too.
   */
  async delete(
    name: string,
    options: Omit<Author, "note"> & { readonly version?: number; readonly erase?: boolean },
  ): Promise<void> {
    const { tenant = DEFAULT_TENANT, by, version, erase = false } = options;
    this.#refuseCode(name);
    await this.#write(tenant, name, (db, at) => this.#remove(db, name, { tenant, by, version, erase }, at));
  }

  /** The newest first. */
  async versions(
    name: string,
    {
      tenant = DEFAULT_TENANT,
      before,
      limit = 100,
    }: OfTenant & { readonly before?: number; readonly limit?: number } = {},
  ): Promise<readonly AgentVersionFacts[]> {
    this.#refuseVersions(name);
    const found = await this.#read(function* (db) {
      const id = (yield* findAgent(db, tenant, name))?.id ?? name; // one that is deleted is found by its id
      let query = db
        .selectFrom("agent_versions")
        .selectAll()
        .where("tenant", "=", tenant)
        .where("agent_id", "=", id)
        .orderBy("n", "desc")
        .limit(Math.max(0, Math.min(limit, MOST_LISTED)));
      if (before !== undefined) query = query.where("n", "<", before);
      return { known: id !== name, rows: yield* rows(query) };
    });
    if (found.rows.length === 0 && !found.known && before === undefined)
      throw await this.#unknown(tenant, name);
    return found.rows.map((row) => {
      const { definition: _, autonomous_mode: __, ...facts } = versionOf(row);
      return facts;
    });
  }

  async version(name: string, n: number, { tenant = DEFAULT_TENANT }: OfTenant = {}): Promise<AgentVersion> {
    this.#refuseVersions(name);
    const row = await this.#read(function* (db) {
      if (!Number.isSafeInteger(n)) return undefined;
      const id = (yield* findAgent(db, tenant, name))?.id ?? name;
      return yield* findVersion(db, tenant, id, n);
    });
    if (row !== undefined) return versionOf(row);
    throw new TracksideError("not_found", `There is no version ${n} of an agent "${name}".`);
  }

  /** What changed between two versions, in the definition and beside it. */
  async diff(
    name: string,
    from: number,
    to: number,
    options: OfTenant = {},
  ): Promise<readonly AgentChange[]> {
    const [before, after] = [await this.version(name, from, options), await this.version(name, to, options)];
    const whole = ({ definition, autonomous_mode }: AgentVersion) => ({ ...definition, autonomous_mode });
    return diffDefinitions(whole(before), whole(after));
  }

  /** Brings an old version back, as a new one. It is checked again: what it names may be gone. */
  async restore(
    name: string,
    n: number,
    options: Author & { readonly version: number },
  ): Promise<AgentRecord> {
    const { tenant = DEFAULT_TENANT } = options;
    this.#refuseCode(name);
    const { definition, autonomous_mode } = await this.version(name, n, { tenant });
    const made = { ...(await this.#checked({ definition }, tenant)), autonomous_mode, restored_from: n };
    return this.#write(tenant, made.name, (db, at) => this.#update(db, name, made, options, at));
  }

  /** Every problem of a definition at once, as saving it would tell them (A3). */
  async validate(definition: unknown, { tenant = DEFAULT_TENANT }: OfTenant = {}): Promise<Validation> {
    try {
      await this.#checked({ definition }, tenant);
      return { ok: true, issues: [] };
    } catch (error) {
      if (error instanceof AgentConfigError) return { ok: false, issues: error.issues };
      throw error;
    }
  }

  /** A new agent with the definition of another one, which may be in code if all it has is registered. */
  async clone(name: string, newName: string, author: Author): Promise<AgentRecord> {
    const { tenant = DEFAULT_TENANT } = author;
    const { autonomous_mode } = await this.get(name, { tenant });
    const definition = { ...(await this.export(name, { tenant })), name: newName };
    return this.create({ definition, autonomous_mode }, author);
  }

  /** The definition as `toJSON` writes it, byte for byte what was created (A1). */
  async export(name: string, { tenant = DEFAULT_TENANT }: OfTenant = {}): Promise<JsonObject> {
    const code = this.#inCode(name);
    // It refuses where the agent holds what has no name.
    if (code !== undefined && "toJSON" in code && typeof code.toJSON === "function") code.toJSON();
    return (await this.get(name, { tenant })).definition;
  }

  /** A new agent from what `export` wrote: JSON, or its text. */
  async import(json: unknown, author: Author & { readonly as?: string }): Promise<AgentRecord> {
    const { as, ...by } = author;
    const definition = typeof json === "string" ? parsed(json) : json;
    return this.create({ definition: as === undefined ? definition : renamed(definition, as) }, by);
  }

  /** A definition with all that is wrong with it, or as it will be written. */
  async #checked(input: AgentInput, tenant: string): Promise<Checked> {
    const { definition: given, autonomous_mode } = input;
    const issues: ConfigIssue[] = [];
    let agent: AgentBinding | undefined;
    let what = "the agent";
    try {
      agent = this.#init.toolkit.bind(given);
      this.#refuseUnmeasured(agent);
    } catch (error) {
      if (!(error instanceof AgentConfigError)) throw error;
      what = /^(.*) has \d+ problems?:$/m.exec(error.message)?.[1] ?? what;
      issues.push(...error.issues);
    }
    const { name, handoffs } = fieldsOf(given);
    if (typeof name === "string" && this.#code.has(name))
      issues.push(issueAt("name", name, "a name that no agent in code has"));
    if (autonomous_mode !== undefined && typeof autonomous_mode !== "boolean")
      issues.push(issueAt("autonomous_mode", autonomous_mode, "a boolean"));
    if (Array.isArray(handoffs)) issues.push(...(await this.#strangers(handoffs, name, tenant)));
    if (agent === undefined || issues.length > 0) throw new AgentConfigError(what, issues);
    const definition = this.#init.toolkit.toJSON(agent);
    return { name: agent.definition.name, definition, digest: digestOf(definition) };
  }

  /** A budget is a share of a window, which has to be known (B3). */
  #refuseUnmeasured(agent: AgentBinding): void {
    const alone = { ...agent, definition: { ...agent.definition, handoffs: [] } };
    this.#init.engine.read(alone, "?", {}, false);
  }

  /** Those that a turn cannot be handed to. */
  async #strangers(
    handoffs: readonly unknown[],
    self: unknown,
    tenant: string,
  ): Promise<readonly ConfigIssue[]> {
    const isOpen = (one: unknown): one is string =>
      typeof one === "string" && one !== self && !this.#code.has(one);
    if (!handoffs.some(isOpen)) return [];
    const stored = await this.#read((db) =>
      rows(db.selectFrom("agents").select("name").where("tenant", "=", tenant).orderBy("name")),
    );
    const known = new Set(stored.map(({ name }) => name));
    const all = [...this.#code.keys(), ...known].slice(0, 20).join(", ") || "there are none";
    return handoffs.flatMap((one, i) =>
      isOpen(one) && !known.has(one) ? [issueAt(`handoffs[${i}]`, one, `an agent (${all})`)] : [],
    );
  }

  *#insert(
    db: Builder,
    made: Checked & { readonly autonomous_mode: boolean },
    { tenant = DEFAULT_TENANT, by, note }: Author,
    at: number,
  ): Operation<AgentRecord> {
    if ((yield* findByName(db, tenant, made.name)) !== undefined) throw taken(made.name);
    const { name, definition, digest, autonomous_mode } = made;
    const row: AgentsTable = {
      id: newId("agent"),
      tenant,
      name,
      version: 1,
      digest,
      created_at: at,
      updated_at: at,
      body: agentBody.write({ v: 1, definition, autonomous_mode, by }),
    };
    yield* rows(db.insertInto("agents").values(row));
    yield* this.#keep(db, row, { definition, autonomous_mode, by, ...noted(note) });
    const about = { agent: row.id, name, version: 1, digest };
    yield* this.#tell(db, { tenant, at, action: "agent.created", by, about, after: definition });
    return this.#record(row);
  }

  *#update(
    db: Builder,
    key: string,
    made: Checked & { readonly autonomous_mode?: boolean; readonly restored_from?: number },
    { tenant = DEFAULT_TENANT, by, note, version: given }: Author & { readonly version: number },
    at: number,
  ): Operation<AgentRecord> {
    const row = yield* findAgent(db, tenant, key);
    if (row === undefined) throw unknownAgent(key);
    const before = agentBody.read(row.body, row.id);
    if (row.version !== given) throw conflict(row, given);
    const { name, definition, digest, restored_from } = made;
    const autonomous_mode = made.autonomous_mode ?? before.autonomous_mode;
    const isSame = digest === row.digest && autonomous_mode === before.autonomous_mode;
    if (isSame) return this.#record(row); // nothing to remember
    if (name !== row.name && (yield* findByName(db, tenant, name)) !== undefined) throw taken(name);
    const version = row.version + 1;
    const body = agentBody.write({ v: 1, definition, autonomous_mode, by });
    const next = { ...row, name, version, digest, updated_at: at, body };
    const mine = yield* changed(
      db
        .updateTable("agents")
        .set({ name, version, digest, updated_at: at, body })
        .where("id", "=", row.id)
        .where("version", "=", given),
    );
    if (mine === 0) throw yield* this.#overtaken(db, tenant, row.id, given);
    const restored = restored_from === undefined ? {} : { restored_from };
    yield* this.#keep(db, next, { definition, autonomous_mode, by, ...noted(note), ...restored });
    const renamedFrom = name === row.name ? {} : { renamed_from: row.name };
    const about = { agent: row.id, name, version, digest, autonomous_mode, ...renamedFrom, ...restored };
    const action = restored_from === undefined ? "agent.saved" : "agent.restored";
    yield* this.#tell(db, { tenant, at, action, by, about, before: before.definition, after: definition });
    return this.#record(next);
  }

  *#remove(
    db: Builder,
    key: string,
    options: {
      readonly tenant: string;
      readonly by: string;
      readonly version: number | undefined;
      readonly erase: boolean;
    },
    at: number,
  ): Operation<void> {
    const { tenant, by, version: given, erase } = options;
    const row = yield* findAgent(db, tenant, key);
    if (row === undefined) throw unknownAgent(key);
    if (given !== undefined && row.version !== given) throw conflict(row, given);
    const { id, name, version, digest } = row;
    const gone = yield* changed(db.deleteFrom("agents").where("id", "=", id).where("version", "=", version));
    if (gone === 0) throw yield* this.#overtaken(db, tenant, id, version);
    if (erase) yield* rows(db.deleteFrom("agent_versions").where("agent_id", "=", id));
    const { definition } = agentBody.read(row.body, id);
    const about = { agent: id, name, version, digest, erased: erase };
    yield* this.#tell(db, { tenant, at, action: "agent.deleted", by, about, before: definition });
  }

  /** Why a row that was there is no longer as it was. */
  *#overtaken(db: Builder, tenant: string, id: string, given: number): Operation<TracksideError> {
    const now = yield* findAgent(db, tenant, id);
    return now === undefined ? unknownAgent(id) : conflict(now, given);
  }

  *#keep(
    db: Builder,
    { id, version, tenant, digest, updated_at }: AgentsTable,
    body: Omit<Parameters<typeof agentVersionBody.write>[0], "v">,
  ): Operation<void> {
    const kept = {
      agent_id: id,
      n: version,
      tenant,
      digest,
      created_at: updated_at,
      body: agentVersionBody.write({ v: 1, ...body }),
    };
    yield* rows(db.insertInto("agent_versions").values(kept));
  }

  /** In the transaction of what it tells. */
  *#tell(db: Builder, event: Parameters<typeof appendAudit>[1]): Operation<void> {
    yield* appendAudit(this.#init.cipher, event)(db);
  }

  /** Another process may take the name, or save, at the same moment: looked at again, its write is there. */
  async #write<T>(tenant: string, name: string, work: (db: Builder, at: number) => Operation<T>): Promise<T> {
    await this.#init.open();
    const { store, clock } = this.#init.engine;
    const at = clock.now();
    try {
      return await store.write((db) => work(db, at));
    } catch (error) {
      if (!(error instanceof StoreError) || error.fault !== "conflict") throw error;
      const there = await store.read((db) => findAgent(db, tenant, name));
      if (there === undefined) throw error;
      return store.write((db) => work(db, at));
    }
  }

  async #read<T>(work: (db: Builder) => Operation<T>): Promise<T> {
    await this.#init.open();
    return this.#init.engine.store.read(work);
  }

  #inCode(key: string): AgentBinding | undefined {
    return this.#code.get(key.startsWith(CODE) ? key.slice(CODE.length) : key) ?? this.#code.get(key);
  }

  #refuseCode(key: string): void {
    const agent = this.#inCode(key);
    if (agent === undefined) return;
    throw new TracksideError(
      "read_only",
      `The agent "${agent.definition.name}" is defined in code, in \`agents\` of the host (trackside.config.ts): change it there, or clone it.`,
    );
  }

  #refuseVersions(key: string): void {
    const agent = this.#inCode(key);
    if (agent === undefined) return;
    throw new TracksideError(
      "not_found",
      `The agent "${agent.definition.name}" is defined in code: its versions are where the code's are.`,
    );
  }

  async #unknown(tenant: string, name: string): Promise<TracksideError> {
    const known = (await this.list({ tenant, limit: 20 })).map((one) => `"${one.name}"`).join(", ");
    return unknownAgent(name, known || "none");
  }

  #record(row: AgentsTable): AgentRecord {
    const { id, name, tenant, version, digest, created_at, updated_at } = row;
    const { definition, autonomous_mode, by } = agentBody.read(row.body, id);
    return {
      id,
      name,
      tenant,
      version,
      digest,
      definition,
      autonomous_mode,
      source: "stored",
      created_at,
      updated_at,
      updated_by: by,
      ...(this.#code.has(name) ? { shadowed: true as const } : {}),
    };
  }

  #ofCode({ definition }: AgentBinding, tenant: string): AgentRecord {
    const json: JsonObject = JSON.parse(JSON.stringify(definitionJson(definition)));
    return {
      id: `${CODE}${definition.name}`,
      name: definition.name,
      tenant,
      version: 1,
      digest: digestOf(json),
      definition: withoutLiterals(json),
      autonomous_mode: false,
      source: "code",
      created_at: this.#since,
      updated_at: this.#since,
      updated_by: "code",
    };
  }
}

const CODE = "code:";

interface Checked {
  readonly name: string;
  readonly definition: JsonObject;
  readonly digest: string;
}

/** Byte order, as the database has it. */
function byName(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function versionOf(row: AgentVersionsTable): AgentVersion {
  const { agent_id, n, digest, created_at } = row;
  const {
    definition,
    autonomous_mode,
    by,
    note = null,
    restored_from = null,
  } = agentVersionBody.read(row.body, `${agent_id} ${n}`);
  const name = String(definition["name"]);
  return { agent_id, n, name, digest, created_at, by, note, restored_from, definition, autonomous_mode };
}

function noted(note: string | undefined): { note?: string } {
  return note === undefined || note === "" ? {} : { note };
}

function conflict(row: AgentsTable, given: number): VersionConflictError {
  const { by } = agentBody.read(row.body, row.id);
  return new VersionConflictError(row.name, given, { version: row.version, by, at: row.updated_at });
}

function taken(name: string): TracksideError {
  return new TracksideError(
    "name_taken",
    `There is an agent "${name}" already. Choose another name, or save that one.`,
  );
}

export function unknownAgent(name: string, known?: string): TracksideError {
  const others = known === undefined ? "" : ` Known: ${known}.`;
  return new TracksideError("not_found", `There is no agent "${name}".${others}`);
}

/** The fields that are looked up among other agents. What cannot be read, the definition's check has told of. */
function fieldsOf(given: unknown): { readonly name?: unknown; readonly handoffs?: unknown } {
  if (typeof given !== "object" || given === null) return {};
  try {
    const { name, handoffs } = given as { name?: unknown; handoffs?: unknown }; // an object may be read by any key
    return { name, handoffs };
  } catch {
    return {};
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new AgentConfigError("the agent", [issueAt("(root)", text, `JSON (${problem})`)]);
  }
}

function renamed(definition: unknown, name: string): unknown {
  return typeof definition === "object" && definition !== null && !Array.isArray(definition)
    ? { ...definition, name }
    : definition;
}
