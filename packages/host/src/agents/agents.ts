import {
  type AgentBinding,
  AgentConfigError,
  type ConfigIssue,
  type JsonObject,
  type TracksideError,
} from "trackside";
import { definitionJson, digestOf } from "trackside/engine";
import { parsed, renamed, unknownDefinition } from "../definitions/errors.ts";
import { InCode, inByteOrder } from "../definitions/in-code.ts";
import {
  type Author,
  type CheckedDefinition,
  type DefinitionVersion,
  isNamed,
  type ListDefinitions,
  MOST_LISTED,
  type OfTenant,
  type StoredDefinition,
  StoredDefinitions,
} from "../definitions/stored-definitions.ts";
import type { DurableEngine } from "../journal/durable-engine.ts";
import { erasePlans } from "../plans/erase.ts";
import { DEFAULT_TENANT } from "../runs/runs.ts";
import type { Cipher } from "../secrets/index.ts";
import { AGENTS, type BesideAgent } from "./agent-rows.ts";
import { type AgentChange, diffDefinitions } from "./diff.ts";
import { issueAt } from "./issues.ts";
import { withoutLiterals } from "./servers.ts";
import type { Toolkit } from "./toolkit.ts";

export type { Author } from "../definitions/stored-definitions.ts";
export type ListAgents = ListDefinitions;

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

export type Validation =
  | { readonly ok: true; readonly issues: readonly [] }
  | { readonly ok: false; readonly issues: readonly ConfigIssue[] };

export interface AgentsInit {
  readonly engine: DurableEngine;
  readonly toolkit: Toolkit;
  readonly cipher: Cipher;
  /** Agents in code. */
  readonly code: readonly AgentBinding[];
  readonly open: () => Promise<void>;
}

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
  readonly #code: InCode<AgentBinding>;
  readonly #stored: StoredDefinitions<BesideAgent>;

  constructor(init: AgentsInit) {
    this.#init = init;
    const { engine, cipher, open } = init;
    const { store, clock } = engine;
    this.#code = new InCode("agent", init.code, clock.now());
    const now = () => clock.now();
    this.#stored = new StoredDefinitions({ kind: AGENTS, store, now, cipher, open, erasing: erasePlans });
  }

  /** By name, those in code among the others. */
  async list(filter: ListAgents = {}): Promise<readonly AgentRecord[]> {
    const { tenant = DEFAULT_TENANT, search = "", after, limit = 100 } = filter;
    const stored = await this.#stored.list(filter);
    const code = this.#code.all
      .map((agent) => this.#ofCode(agent, tenant))
      .filter(({ name }) => isNamed(name, search) && (after === undefined || inByteOrder(name, after) > 0));
    return [...code, ...stored.map((one) => this.#record(one))]
      .sort((a, b) => inByteOrder(a.name, b.name))
      .slice(0, Math.max(0, Math.min(limit, MOST_LISTED)));
  }

  async get(name: string, { tenant = DEFAULT_TENANT }: OfTenant = {}): Promise<AgentRecord> {
    const code = this.#code.find(name);
    if (code !== undefined) return this.#ofCode(code, tenant);
    const found = await this.#stored.find(tenant, name);
    if (found === undefined) throw await this.#unknown(tenant, name);
    return this.#record(found);
  }

  async create(input: AgentInput, author: Author): Promise<AgentRecord> {
    const { tenant = DEFAULT_TENANT } = author;
    const made = await this.#checked(input, tenant);
    const beside = { autonomous_mode: input.autonomous_mode ?? false };
    return this.#record(await this.#stored.create(made, beside, author));
  }

  /** Saves over the version it was read at. Of two who save the same one the first wins; the other is told who that was. */
  async save(
    name: string,
    input: AgentInput,
    options: Author & { readonly version: number },
  ): Promise<AgentRecord> {
    const { tenant = DEFAULT_TENANT } = options;
    this.#code.refuseChange(name);
    const made = await this.#checked(input, tenant);
    const { autonomous_mode } = input;
    const beside = autonomous_mode === undefined ? {} : { autonomous_mode };
    return this.#record(await this.#stored.save(name, made, { ...options, beside }));
  }

  /**
   * Deletes it. Runs under way keep the definition they are pinned to. Its versions can still be read by its id, which the
   * audit names; with `erase` they are gone, too.
   */
  async delete(
    name: string,
    options: Omit<Author, "note"> & { readonly version?: number; readonly erase?: boolean },
  ): Promise<void> {
    this.#code.refuseChange(name);
    await this.#stored.delete(name, options);
  }

  /** The newest first. */
  async versions(
    name: string,
    page: OfTenant & { readonly before?: number; readonly limit?: number } = {},
  ): Promise<readonly AgentVersionFacts[]> {
    this.#code.refuseVersions(name);
    const found = await this.#stored.versions(name, page);
    if (found === undefined) throw await this.#unknown(page.tenant ?? DEFAULT_TENANT, name);
    return found.map((one) => {
      const { definition: _, autonomous_mode: __, ...facts } = versionOf(one);
      return facts;
    });
  }

  async version(name: string, n: number, options: OfTenant = {}): Promise<AgentVersion> {
    this.#code.refuseVersions(name);
    return versionOf(await this.#stored.version(name, n, options));
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
    this.#code.refuseChange(name);
    const { definition, autonomous_mode } = await this.version(name, n, { tenant });
    const made = await this.#checked({ definition }, tenant);
    const restored = { ...options, beside: { autonomous_mode }, restoredFrom: n };
    return this.#record(await this.#stored.save(name, made, restored));
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
    const code = this.#code.find(name);
    // It refuses where the agent holds what has no name.
    if (code !== undefined && "toJSON" in code && typeof code.toJSON === "function") code.toJSON();
    return (await this.get(name, { tenant })).definition;
  }

  /** A new agent from what `export` wrote: JSON, or its text. */
  async import(json: unknown, author: Author & { readonly as?: string }): Promise<AgentRecord> {
    const { as, ...by } = author;
    const definition = typeof json === "string" ? parsed("agent", json) : json;
    return this.create({ definition: as === undefined ? definition : renamed(definition, as) }, by);
  }

  /** A definition with all that is wrong with it, or as it will be written. */
  async #checked(input: AgentInput, tenant: string): Promise<CheckedDefinition> {
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
    const known = new Set(await this.#stored.names(tenant));
    const all = [...this.#code.names, ...known].slice(0, 20).join(", ") || "there are none";
    return handoffs.flatMap((one, i) =>
      isOpen(one) && !known.has(one) ? [issueAt(`handoffs[${i}]`, one, `an agent (${all})`)] : [],
    );
  }

  async #unknown(tenant: string, name: string): Promise<TracksideError> {
    return unknownAgent(
      name,
      (await this.list({ tenant, limit: 20 })).map((one) => one.name),
    );
  }

  #record({ beside, ...stored }: StoredDefinition<BesideAgent>): AgentRecord {
    const shadowed = this.#code.has(stored.name) ? { shadowed: true as const } : {};
    return { ...stored, ...beside, source: "stored", ...shadowed };
  }

  #ofCode({ definition }: AgentBinding, tenant: string): AgentRecord {
    const json: JsonObject = JSON.parse(JSON.stringify(definitionJson(definition)));
    return {
      id: this.#code.idOf(definition.name),
      name: definition.name,
      tenant,
      version: 1,
      digest: digestOf(json),
      definition: withoutLiterals(json),
      autonomous_mode: false,
      source: "code",
      created_at: this.#code.since,
      updated_at: this.#code.since,
      updated_by: "code",
    };
  }
}

function versionOf({ owner_id, beside, ...version }: DefinitionVersion<BesideAgent>): AgentVersion {
  return { agent_id: owner_id, ...version, ...beside };
}

export function unknownAgent(name: string, known?: readonly string[]): TracksideError {
  return unknownDefinition("agent", name, known);
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
