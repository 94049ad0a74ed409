import {
  AgentConfigError,
  type ConfigIssue,
  type JsonObject,
  type RunStream,
  type Tool,
  type TracksideError,
} from "trackside";
import { digestOf, streamed } from "trackside/engine";
import { checkWorkflow } from "trackside/schema";
import type { Validation } from "../agents/agents.ts";
import { type AgentChange, diffDefinitions } from "../agents/diff.ts";
import { issueAt } from "../agents/issues.ts";
import type { StoredAgents } from "../agents/stored-agents.ts";
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
import { DEFAULT_TENANT } from "../runs/runs.ts";
import type { Cipher } from "../secrets/index.ts";
import { type CatalogSources, catalogFor, type WorkflowCatalog, wholeCatalog } from "./catalog.ts";
import { figuresOf, NO_RUNS, type WorkflowFigures } from "./figures.ts";
import type { WorkflowBinding } from "./in-code.ts";
import { excessIn } from "./references.ts";
import {
  type BeginRun,
  type ReadyWorkflow,
  readInput,
  type StartedWorkflow,
  type StartWorkflow,
} from "./start.ts";
import { type FoundWorkflow, StoredWorkflows } from "./stored-workflows.ts";
import { Waits } from "./waits.ts";
import { type BesideWorkflow, WORKFLOWS } from "./workflow-rows.ts";

/** A workflow as it is now. */
export interface WorkflowRecord {
  readonly id: string;
  readonly name: string;
  readonly tenant: string;
  /** Goes up with every save; 1 for workflows in code. */
  readonly version: number;
  /** Of the definition. */
  readonly digest: string;
  readonly definition: JsonObject;
  /** `code`: read-only here, since it is defined where the host is made. */
  readonly source: "stored" | "code";
  readonly created_at: number;
  readonly updated_at: number;
  readonly updated_by: string;
  /** A workflow in code has its name, and is the one that runs. Give it another one, or delete it. */
  readonly shadowed?: true;
}

/** With how its runs went. */
export type WorkflowRow = WorkflowRecord & WorkflowFigures;

/** One version of a stored workflow, without its definition. */
export interface WorkflowVersionFacts {
  readonly workflow_id: string;
  readonly n: number;
  readonly name: string;
  readonly digest: string;
  readonly created_at: number;
  readonly by: string;
  readonly note: string | null;
  /** The version it brought back. */
  readonly restored_from: number | null;
}

export interface WorkflowVersion extends WorkflowVersionFacts {
  readonly definition: JsonObject;
}

export interface WorkflowsInit extends Omit<CatalogSources, "workflows"> {
  readonly engine: DurableEngine;
  readonly cipher: Cipher;
  readonly stored: StoredAgents;
  readonly begin: BeginRun;
  /** Workflows in code. */
  readonly code: readonly WorkflowBinding[];
  readonly open: () => Promise<void>;
}

/**
 * Workflows of a host: those in code, and those made at run time, each of one tenant and with every version it had.
 * Wherever one is named its id will do, too. A run keeps the version it began with.
 *
 * @example
 * await trackside.workflows.create({ name: "triage", nodes: { sort: { kind: "agent", agent: "clerk", prompt: "…" } } }, { by: "ann" });
 * const { runId } = await trackside.workflows.start("triage", { ticket: 17 });
 */
export class Workflows {
  /** Nodes that wait until somebody sends something to their address. */
  readonly waits: Waits;
  readonly #init: WorkflowsInit;
  readonly #code: InCode<WorkflowBinding>;
  readonly #stored: StoredDefinitions<BesideWorkflow>;
  readonly #bound: StoredWorkflows;

  constructor(init: WorkflowsInit) {
    this.#init = init;
    const { engine, cipher, open } = init;
    const { store, clock } = engine;
    this.#code = new InCode("workflow", init.code, clock.now());
    this.#stored = new StoredDefinitions({ kind: WORKFLOWS, store, now: () => clock.now(), cipher, open });
    const { toolkit, stored, agents } = init;
    this.#bound = new StoredWorkflows({ store, toolkit, stored, agents, workflows: this.#code });
    this.waits = new Waits(engine, cipher);
  }

  /** By name, those in code among the others, with how their runs went. */
  async list(filter: ListDefinitions = {}): Promise<readonly WorkflowRow[]> {
    const { tenant = DEFAULT_TENANT, search = "", after, limit = 100 } = filter;
    const stored = await this.#stored.list(filter);
    const code = this.#code.all
      .map((workflow) => this.#ofCode(workflow, tenant))
      .filter(({ name }) => isNamed(name, search) && (after === undefined || inByteOrder(name, after) > 0));
    const page = [...code, ...stored.map((one) => this.#record(one))]
      .sort((a, b) => inByteOrder(a.name, b.name))
      .slice(0, Math.max(0, Math.min(limit, MOST_LISTED)));
    return this.#withFigures(page, tenant);
  }

  async get(name: string, { tenant = DEFAULT_TENANT }: OfTenant = {}): Promise<WorkflowRow> {
    const record = await this.#get(name, tenant);
    const [row] = await this.#withFigures([record], tenant);
    return row ?? { ...record, ...NO_RUNS };
  }

  async create(definition: unknown, author: Author): Promise<WorkflowRecord> {
    const { tenant = DEFAULT_TENANT } = author;
    const made = await this.#checked(definition, tenant);
    return this.#record(await this.#stored.create(made, {}, author));
  }

  /** Saves over the version it was read at. Of two who save the same one the first wins; the other is told who that was. */
  async save(
    name: string,
    definition: unknown,
    options: Author & { readonly version: number },
  ): Promise<WorkflowRecord> {
    const { tenant = DEFAULT_TENANT } = options;
    this.#code.refuseChange(name);
    const made = await this.#checked(definition, tenant);
    return this.#record(await this.#stored.save(name, made, options));
  }

  /**
   * Deletes it. Its runs stay, and those under way go on with the version they began with. Its versions can still be read
   * by its id, which the audit names; with `erase` they are gone, too.
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
  ): Promise<readonly WorkflowVersionFacts[]> {
    this.#code.refuseVersions(name);
    const found = await this.#stored.versions(name, page);
    if (found === undefined) throw await this.#unknown(page.tenant ?? DEFAULT_TENANT, name);
    return found.map((one) => {
      const { definition: _, ...facts } = versionOf(one);
      return facts;
    });
  }

  async version(name: string, n: number, options: OfTenant = {}): Promise<WorkflowVersion> {
    this.#code.refuseVersions(name);
    return versionOf(await this.#stored.version(name, n, options));
  }

  /** What changed between two versions. */
  async diff(
    name: string,
    from: number,
    to: number,
    options: OfTenant = {},
  ): Promise<readonly AgentChange[]> {
    const [before, after] = [await this.version(name, from, options), await this.version(name, to, options)];
    return diffDefinitions(before.definition, after.definition);
  }

  /** Brings an old version back, as a new one. It is checked again: what it names may be gone. */
  async restore(
    name: string,
    n: number,
    options: Author & { readonly version: number },
  ): Promise<WorkflowRecord> {
    const { tenant = DEFAULT_TENANT } = options;
    this.#code.refuseChange(name);
    const { definition } = await this.version(name, n, { tenant });
    const made = await this.#checked(definition, tenant);
    return this.#record(await this.#stored.save(name, made, { ...options, restoredFrom: n }));
  }

  /**
   * Every problem of a definition at once, as saving it would tell them. `name` is the workflow it is to be a version of,
   * null for a new one: then a name that is taken is a problem, too.
   */
  async validate(
    definition: unknown,
    { tenant = DEFAULT_TENANT, name }: OfTenant & { readonly name?: string | null } = {},
  ): Promise<Validation> {
    const issues = name === undefined ? [] : await this.#taken(definition, tenant, name);
    try {
      await this.#checked(definition, tenant);
    } catch (error) {
      if (!(error instanceof AgentConfigError)) throw error;
      issues.push(...error.issues);
    }
    return issues.length === 0 ? { ok: true, issues: [] } : { ok: false, issues };
  }

  /** A new workflow with the definition of another one, which may be in code if all it names is registered. */
  async clone(name: string, newName: string, author: Author): Promise<WorkflowRecord> {
    const definition = await this.export(name, author);
    return this.create({ ...definition, name: newName }, author);
  }

  /** The definition as it is stored: imported again, it is the same one. */
  async export(name: string, { tenant = DEFAULT_TENANT }: OfTenant = {}): Promise<JsonObject> {
    const code = this.#code.find(name);
    // It refuses where the workflow holds what has no name.
    if (code !== undefined && "toJSON" in code && typeof code.toJSON === "function") code.toJSON();
    return (await this.#get(name, tenant)).definition;
  }

  /** A new workflow from what `export` wrote: JSON, or its text. */
  async import(json: unknown, author: Author & { readonly as?: string }): Promise<WorkflowRecord> {
    const { as, ...by } = author;
    const definition = typeof json === "string" ? parsed("workflow", json) : json;
    return this.create(as === undefined ? definition : renamed(definition, as), by);
  }

  /** What nodes may name, with the schemas of what goes in and out. */
  async catalog({ tenant = DEFAULT_TENANT }: OfTenant = {}): Promise<WorkflowCatalog> {
    await this.#init.open();
    return this.#init.engine.store.read((db) => wholeCatalog(db, this.#sources, tenant));
  }

  /**
   * Starts a run and answers as soon as it is durable. An input that is not what the workflow asks for is refused with every
   * problem, and nothing is stored.
   */
  async start(name: string, input: unknown, options: StartWorkflow = {}): Promise<StartedWorkflow> {
    const found = await this.#find(name, options.scope);
    return this.#init.begin(found, await readInput(found.binding, input), options);
  }

  /** Finds a workflow and reads its input, as `start` does, for whoever wants to see its events as they happen. */
  async ready(name: string, input: unknown, scope?: StartWorkflow["scope"]): Promise<ReadyWorkflow> {
    const found = await this.#find(name, scope);
    const text = await readInput(found.binding, input);
    const { engine } = this.#init;
    return {
      definition: found.binding.definition.workflow,
      stream: (options = {}) => {
        const asked = { ...options, ...(scope === undefined ? {} : { scope }) };
        const made = streamed((sink) => engine.startFound(async () => found, text, asked, sink));
        return made as RunStream<unknown, readonly Tool[]>; // whose tools nobody knows here
      },
    };
  }

  async #find(name: string, scope: StartWorkflow["scope"]): Promise<FoundWorkflow> {
    await this.#init.open();
    // Whether the scope is one is found out with the rest of the request.
    const given = scope?.["tenant"];
    const tenant = typeof given === "string" ? given : DEFAULT_TENANT;
    const found = await this.#bound.find(tenant, name);
    if (found === undefined) throw await this.#unknown(tenant, name);
    return found;
  }

  /** A definition with all that is wrong with it, or as it will be written. */
  async #checked(given: unknown, tenant: string): Promise<CheckedDefinition> {
    const own = nameIn(given);
    const what = own === undefined ? "the workflow" : `workflow ${JSON.stringify(own)}`;
    const excess = excessIn(given);
    if (excess.length > 0) throw new AgentConfigError(what, excess);
    await this.#init.open();
    const catalog = await this.#init.engine.store.read((db) => catalogFor(db, this.#sources, tenant, given));
    const found = checkWorkflow(given, catalog);
    const issues: ConfigIssue[] = found.ok ? [] : [...found.issues];
    if (own !== undefined && this.#code.has(own))
      issues.push(issueAt("name", own, "a name that no workflow in code has"));
    if (!found.ok || issues.length > 0)
      throw new AgentConfigError(
        own === undefined ? "the workflow" : `workflow ${JSON.stringify(own)}`,
        issues,
      );
    const definition: JsonObject = JSON.parse(JSON.stringify(found.definition));
    return { name: found.definition.name, definition, digest: digestOf(definition) };
  }

  async #taken(definition: unknown, tenant: string, own: string | null): Promise<ConfigIssue[]> {
    const name = nameIn(definition);
    const found = name === undefined ? undefined : await this.#stored.find(tenant, name);
    if (found === undefined || found.name === own || found.id === own) return [];
    return [issueAt("name", name, "a name that no other workflow has")];
  }

  get #sources(): CatalogSources {
    const { toolkit, agents } = this.#init;
    return { toolkit, agents, workflows: this.#code };
  }

  async #get(name: string, tenant: string): Promise<WorkflowRecord> {
    const code = this.#code.find(name);
    if (code !== undefined) return this.#ofCode(code, tenant);
    const found = await this.#stored.find(tenant, name);
    if (found === undefined) throw await this.#unknown(tenant, name);
    return this.#record(found);
  }

  async #withFigures(page: readonly WorkflowRecord[], tenant: string): Promise<readonly WorkflowRow[]> {
    await this.#init.open();
    const names = [...new Set(page.map(({ name }) => name))];
    const figures = await this.#init.engine.store.read((db) => figuresOf(db, tenant, names));
    return page.map((one) => ({ ...one, ...(figures.get(one.name) ?? NO_RUNS) }));
  }

  async #unknown(tenant: string, name: string): Promise<TracksideError> {
    const stored = await this.#stored.names(tenant);
    return unknownDefinition("workflow", name, [...this.#code.names, ...stored].slice(0, 20));
  }

  #record({ beside: _, ...stored }: StoredDefinition<BesideWorkflow>): WorkflowRecord {
    const shadowed = this.#code.has(stored.name) ? { shadowed: true as const } : {};
    return { ...stored, source: "stored", ...shadowed };
  }

  #ofCode({ definition: { name, workflow } }: WorkflowBinding, tenant: string): WorkflowRecord {
    const json: JsonObject = JSON.parse(JSON.stringify(workflow));
    return {
      id: this.#code.idOf(name),
      name,
      tenant,
      version: 1,
      digest: digestOf(json),
      definition: json,
      source: "code",
      created_at: this.#code.since,
      updated_at: this.#code.since,
      updated_by: "code",
    };
  }
}

function versionOf({ owner_id, beside: _, ...version }: DefinitionVersion<BesideWorkflow>): WorkflowVersion {
  return { workflow_id: owner_id, ...version };
}

/** As it is written, for whoever reads of its problems. */
function nameIn(given: unknown): string | undefined {
  if (typeof given !== "object" || given === null) return undefined;
  try {
    const { name } = given as { name?: unknown }; // an object may be read by any key
    return typeof name === "string" ? name.slice(0, 128) : undefined;
  } catch {
    return undefined;
  }
}
