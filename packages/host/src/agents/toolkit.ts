import { basename } from "node:path";
import {
  Agent,
  type AgentBinding,
  AgentConfigError,
  type AgentDefinition,
  describeTool,
  type EngineOptions,
  type HookAbout,
  type HookFactory,
  type HookPoint,
  type JsonObject,
  type RailFactory,
  type Tool,
  type ToolDescriptor,
  TracksideError,
} from "trackside";
import { compileSchema, definitionJson } from "trackside/engine";
import { type ConfigIssue, issueAt } from "./issues.ts";
import { type McpServer, offeredServers } from "./servers.ts";

/**
 * What agents made at run time may use, by name. Nothing gets in here by itself: a tool that stands in code behind the rails
 * of one agent is not thereby given to everybody who may write a definition.
 */
export interface ToolkitOptions {
  readonly tools?: readonly Tool[];
  readonly rails?: Readonly<Record<string, RailFactory>>;
  readonly hooks?: Readonly<Record<string, HookFactory>>;
  /** A definition names one of these, `{ "name": "files" }`, and may take fewer of its tools. */
  readonly mcpServers?: readonly McpServer[];
}

/** The toolkit as forms show it. */
export interface ToolkitDescription {
  readonly tools: readonly (Omit<ToolDescriptor, "irreversible"> & { readonly irreversible: boolean })[];
  readonly rails: readonly RailDescription[];
  readonly hooks: readonly HookDescription[];
  readonly mcp_servers: readonly ServerDescription[];
  /** Models beside those of the known providers. */
  readonly models: readonly string[];
}

export interface RailDescription {
  readonly name: string;
  readonly description: string;
  /** JSON Schema; null where the factory does not say. */
  readonly options: JsonObject | null;
  readonly points: readonly HookPoint[] | null;
  readonly priority: number | null;
}

export interface HookDescription {
  readonly name: string;
  readonly description: string;
  readonly options: JsonObject | null;
  readonly points: readonly HookPoint[] | null;
  readonly kind: NonNullable<HookAbout["kind"]> | null;
}

/** A server without its arguments, headers and environment, where secrets are. */
export interface ServerDescription {
  readonly name: string;
  readonly transport: "stdio" | "http";
  /** The program, or the address without its path. */
  readonly target: string;
  readonly trusted: boolean;
  readonly include: readonly string[] | null;
  readonly exclude: readonly string[];
}

/** The names in a toolkit: what a worker tells others it has. */
export interface ToolkitNames {
  readonly tools: readonly string[];
  readonly rails: readonly string[];
  readonly hooks: readonly string[];
  readonly mcp_servers: readonly string[];
  readonly models: readonly string[];
}

/** Binds definitions made at run time. Read-only: what it has is fixed when the host is made. */
export class Toolkit {
  readonly tools: readonly Tool[];
  readonly rails: Readonly<Record<string, RailFactory>>;
  readonly hooks: Readonly<Record<string, HookFactory>>;
  readonly mcpServers: readonly McpServer[];
  readonly models: NonNullable<EngineOptions["models"]>;
  /** The servers of an agent as its definition writes them: by name, where the agent has them whole. */
  readonly #written = new WeakMap<AgentBinding, AgentDefinition["mcp_servers"]>();
  #described: ToolkitDescription | undefined;

  constructor(options: ToolkitOptions & Pick<EngineOptions, "models"> = {}) {
    const { tools = [], rails = {}, hooks = {}, mcpServers = [], models = {} } = options;
    const registry = { tools, rails, hooks, models };
    try {
      Agent.fromJSON({ name: "toolkit", model: "openai:any", tools: [], mcp_servers: mcpServers }, registry);
    } catch (error) {
      if (!(error instanceof AgentConfigError)) throw error;
      throw new AgentConfigError("the toolkit", error.issues.map(ofOptions));
    }
    this.tools = Object.freeze([...tools]);
    this.rails = Object.freeze({ ...rails });
    this.hooks = Object.freeze({ ...hooks });
    this.mcpServers = Object.freeze([...mcpServers]);
    this.models = Object.freeze({ ...models });
    Object.freeze(this);
  }

  /** An agent of a definition and what it names here; throws with every problem (A3). */
  bind(json: unknown): Agent<readonly Tool[], JsonObject> {
    const { tools, hitl_tools, mcp_servers } = fieldsOf(json);
    // In a host absent `tools` are the registered ones that `hitl_tools` names (A1).
    const isListed = tools !== undefined && tools !== null;
    const gated: readonly unknown[] = Array.isArray(hitl_tools) ? hitl_tools : [];
    const bound = isListed ? this.tools : this.tools.filter(({ name }) => gated.includes(name));
    const { servers, issues } = Array.isArray(mcp_servers)
      ? offeredServers(mcp_servers, this.mcpServers)
      : { servers: undefined, issues: [] };
    const whole = servers === undefined ? json : { ...(json as object), mcp_servers: servers }; // an object: it has a list
    const told = (found: ConfigIssue) => (isListed ? found : this.#orphan(found, gated));
    let agent: Agent<readonly Tool[], JsonObject>;
    try {
      const { rails, hooks, models } = this;
      agent = Agent.fromJSON(whole, { tools: bound, rails, hooks, models });
    } catch (error) {
      if (!(error instanceof AgentConfigError)) throw error;
      throw new AgentConfigError(labelOf(json), [...issues, ...error.issues.map(told)]);
    }
    if (issues.length > 0) throw new AgentConfigError(labelOf(json), issues);
    if (servers !== undefined) this.#written.set(agent, copyOf(mcp_servers));
    return agent;
  }

  /** The same agent, with everybody it may hand the turn to. */
  withTeam(agent: AgentBinding, team: readonly AgentBinding[]): AgentBinding {
    const { definition, tools, models, planningModel, output, hookManager, pipeline, missing } = agent;
    const made = { definition, tools, models, planningModel, team, output, hookManager, pipeline, missing };
    const servers = this.#written.get(agent);
    if (servers !== undefined) this.#written.set(made, servers);
    return made;
  }

  /** A definition of an agent bound here as it was written: servers by name, so that no secret of theirs is kept with it. */
  written(agent: AgentBinding, definition: AgentDefinition): AgentDefinition {
    const mcp_servers = this.#written.get(agent);
    return mcp_servers === undefined ? definition : { ...definition, mcp_servers };
  }

  /** The definition of an agent bound here, as JSON (A1). */
  toJSON(agent: AgentBinding): JsonObject {
    return copyOf(definitionJson(this.written(agent, agent.definition)));
  }

  get names(): ToolkitNames {
    return {
      tools: this.tools.map(({ name }) => name),
      rails: Object.keys(this.rails),
      hooks: Object.keys(this.hooks),
      mcp_servers: this.mcpServers.map(({ name }) => name),
      models: Object.keys(this.models),
    };
  }

  /** Everything in it with its schemas and without its secrets, for forms. */
  describe(): ToolkitDescription {
    this.#described ??= {
      tools: this.tools.map((tool) => ({ ...describeTool(tool), irreversible: tool.irreversible })),
      rails: Object.entries(this.rails).map(([name, { about }]) => ({
        name,
        description: about?.description ?? "",
        options: schemaOf(`rails.${name}`, about),
        points: about?.points ?? null,
        priority: about?.priority ?? null,
      })),
      hooks: Object.entries(this.hooks).map(([name, { about }]) => ({
        name,
        description: about?.description ?? "",
        options: schemaOf(`hooks.${name}`, about),
        points: about?.points ?? null,
        kind: about?.kind ?? null,
      })),
      mcp_servers: this.mcpServers.map(describeServer),
      models: Object.keys(this.models),
    };
    return this.#described;
  }

  #orphan(found: ConfigIssue, gated: readonly unknown[]): ConfigIssue {
    const [, at] = /^hitl_tools\[(\d+)\]$/.exec(found.path) ?? [];
    if (at === undefined) return found;
    const names = this.tools.map(({ name }) => name).join(", ") || "there are none";
    return issueAt(found.path, gated[Number(at)], `a registered tool (${names})`);
  }
}

/** Options in the words of whoever wrote them. */
function ofOptions(found: ConfigIssue): ConfigIssue {
  const path = found.path.replace(/^registry\./, "").replace(/^mcp_servers/, "mcpServers");
  return { ...found, path, message: found.message.replace(found.path, path) };
}

/** The fields that are looked at before the definition's own check, which says what is wrong with them. */
function fieldsOf(json: unknown): Readonly<Record<string, unknown>> {
  if (typeof json !== "object" || json === null) return {};
  try {
    const { tools, hitl_tools, mcp_servers } = json as Record<string, unknown>; // an object may be read by any key
    return { tools, hitl_tools, mcp_servers };
  } catch {
    return {};
  }
}

function labelOf(json: unknown): string {
  try {
    const { name } = json as { name?: unknown }; // what has none throws, or answers nothing
    return typeof name === "string" ? `agent ${JSON.stringify(name.slice(0, 128))}` : "the agent";
  } catch {
    return "the agent";
  }
}

function schemaOf(path: string, about: RailFactory["about"] | HookFactory["about"]): JsonObject | null {
  if (about?.options === undefined) return null;
  try {
    return compileSchema(about.options).jsonSchema;
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new TracksideError(
      "config_invalid",
      `${path}.about.options: no JSON Schema can be made of it: ${problem}`,
    );
  }
}

function describeServer(server: McpServer): ServerDescription {
  const { name, command, url, trusted = false, include = null, exclude = [] } = server;
  const target = command === undefined ? (URL.parse(url ?? "")?.origin ?? "") : basename(command);
  return { name, transport: command === undefined ? "http" : "stdio", target, trusted, include, exclude };
}

/** Plain JSON of its own. */
function copyOf<T>(value: unknown): T {
  return JSON.parse(JSON.stringify(value)) as T; // what it was, when it was JSON: the definition's check has said so
}
