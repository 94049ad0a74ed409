import type {
  LanguageModelV2,
  LanguageModelV3,
  LanguageModelV4,
  LanguageModelV4FunctionTool,
} from "@ai-sdk/provider";
import type { HookManager } from "../hooks/hook-manager.ts";
import type { ParallelGroup, PostHook, PreHook } from "../hooks/pipeline-hooks.ts";
import { plannerSystem } from "../planning/prompt.ts";
import { type Entry, nameOf } from "../rails/dispatch.ts";
import type { AgentDefinition, PinnedAgent } from "../schema/agent.ts";
import { HOOK_POINTS, type HookPoint } from "../schema/points.ts";
import type { TransformerFactory } from "../stream/transform.ts";
import { childDefinition } from "../subagents/child-definition.ts";
import type { Job } from "../subagents/jobs.ts";
import { readUntrustedSchema } from "../subagents/untrusted-schema.ts";
import { type CompiledSchema, compileSchema } from "../tools/compile-schema.ts";
import type { Tool } from "../tools/define-tool.ts";
import { withInjected } from "../tools/injected.ts";
import type { ChildInput } from "../turn/world.ts";
import { chunkOf } from "../workflows/chunk.ts";
import { pinnedGraph } from "../workflows/pinned-graph.ts";
import { type LoopTool, type LoopTools, loopToolsOf, NO_LOOP_TOOLS } from "./loop-tools.ts";
import type { Maybe } from "./maybe.ts";
import type { Customer } from "./served.ts";
import { teamOf, workflowKey } from "./team.ts";
import { type ReadInput, readWorkflowInput } from "./workflow-input.ts";

/** A model of any AI SDK provider package. */
export type LanguageModel = LanguageModelV4 | LanguageModelV3 | LanguageModelV2;

/** What an engine needs of an agent: its definition with the functions it names. */
export interface AgentBinding {
  readonly definition: AgentDefinition;
  readonly tools: readonly Tool[];
  /** Tools that came with the request of one run, and are run by its client (T8). */
  readonly clientTools?: readonly Tool[];
  /** The agent's model, then its fallbacks: a `provider:model` string or an object. */
  readonly models: readonly (string | LanguageModel)[];
  /** The model of the planning phase; null for the executor's (P3). */
  readonly planningModel: string | LanguageModel | null;
  /** Agents it can hand a turn to, as far as they are at hand; an engine may know others by name (S7). */
  readonly team: readonly AgentBinding[];
  readonly output: CompiledSchema | null;
  readonly hookManager: HookManager;
  /** The turn pipeline. */
  readonly pipeline: {
    readonly pre: readonly (PreHook | ParallelGroup)[];
    readonly post: readonly PostHook[];
    readonly stream: readonly TransformerFactory[];
  };
  /** Names in the definition that nothing is registered under; a run is refused for them. */
  readonly missing: readonly string[];
  /** Of a workflow in code: it may know more of its input than JSON Schema says. */
  readInput?(given: unknown): Maybe<ReadInput>;
}

const NOBODY: readonly Entry[] = Object.freeze([]);

/** Providers that read schemas strictly: a property that is not required is refused, or made required by them. */
const STRICT = /^(openai|azure)\b/;

/** What a bound agent is made of. */
interface Makings {
  readonly definition: AgentDefinition;
  readonly tools: readonly Tool[];
  /** Tools of servers (MCP). */
  readonly served: readonly Tool[];
  /** Tools that came with the request. */
  readonly brought: readonly Tool[];
  /** Tools that came in the middle of the conversation, at the end of the list (H9). */
  readonly late?: readonly Tool[];
  readonly models: AgentBinding["models"];
  readonly planningModel: AgentBinding["planningModel"];
  readonly output: CompiledSchema | null;
  readonly pipeline: AgentBinding["pipeline"];
  readonly entries: ReadonlyMap<HookPoint, readonly Entry[]>;
  readonly team: ReadonlyMap<string, AgentBinding>;
  readonly servedOf: Served;
  /** Whether any agent of the run's tree has an exclusive tool (T5). */
  readonly hasExclusive: boolean;
  /** How deep in a tree of sub-agents. */
  readonly depth: number;
  /** Its servers are connected: a child has the tools its parent got from them. */
  readonly isSupplied: boolean;
}

/** An agent fixed for one run: later changes to it do not reach the run. */
export class BoundAgent {
  readonly definition: AgentDefinition;
  /** Its own, those of servers, and ours: spawn and handoff tools. Then those of the request. */
  readonly tools: readonly Tool[];
  readonly models: AgentBinding["models"];
  /** The same for the planner (P3). */
  readonly planningModels: AgentBinding["models"];
  readonly output: CompiledSchema | null;
  readonly preHooks: AgentBinding["pipeline"]["pre"];
  readonly postHooks: AgentBinding["pipeline"]["post"];
  readonly transformers: AgentBinding["pipeline"]["stream"];
  readonly toolByName: ReadonlyMap<string, Tool>;
  readonly system: SystemPrompt | null;
  readonly pinned: PinnedAgent;
  /** Streamed text waits until the rails have passed (R15). */
  readonly held: boolean;
  /** Arguments may be shown while they are written: nobody has to see them first (R4). */
  readonly showsInput: boolean;
  /** Whether a call has to make sure that no exclusive one runs in its tree (T5). */
  readonly hasExclusive: boolean;
  readonly #makings: Makings;
  readonly #loopTools: LoopTools;
  readonly #wireTools = new Map<string, LanguageModelV4FunctionTool[]>();
  readonly #handed = new Map<string, BoundAgent>();
  #plannerSystem: SystemPrompt | undefined;
  #plainChild: BoundAgent | undefined;

  constructor(makings: Makings) {
    const { definition, tools, served, brought, pipeline, planningModel, models } = makings;
    this.#makings = makings;
    this.hasExclusive = makings.hasExclusive;
    // The definition a run is pinned to lists every bound name (A1).
    this.definition = Object.freeze({ ...definition, tools: Object.freeze(tools.map((tool) => tool.name)) });
    const { workflow } = definition;
    this.#loopTools = workflow === undefined ? loopToolsOf(definition, makings.team) : NO_LOOP_TOOLS;
    const late = makings.late ?? [];
    this.tools = Object.freeze([...tools, ...served, ...this.#loopTools.tools, ...brought, ...late]);
    this.models = models;
    this.planningModels = planningModel === null ? models : [planningModel];
    this.output = makings.output;
    this.preHooks = pipeline.pre;
    this.postHooks = pipeline.post;
    this.transformers = pipeline.stream;
    this.toolByName = new Map(this.tools.map((tool) => [tool.name, tool]));
    this.system =
      definition.instructions === "" ? null : { role: "system", content: definition.instructions };
    const heldBy = holders(definition, this.entries("POST_LLM_CALL"));
    this.held = heldBy.length > 0;
    const guarded = this.entries("PRE_TOOL_CALL").some(({ rail }) => rail?.mode !== "shadow");
    this.showsInput = !guarded && this.transformers.length === 0;
    const team = [...makings.team].map(([name, member]) => [name, pinnedMember(member)] as const);
    this.pinned = Object.freeze({
      definition: this.definition,
      points: [...makings.entries.keys()],
      pre_hooks: this.preHooks.length > 0,
      post_hooks: this.postHooks.length > 0,
      held_by: heldBy,
      servers: !makings.isSupplied && this.customers.length > 0,
      team: Object.fromEntries(team),
      ...(workflow === undefined ? {} : { graph: pinnedGraph(workflow) }),
    });
  }

  /** Those with tools of servers: the agent itself, and whoever the turn may be handed to. */
  get customers(): readonly Customer[] {
    const { definition, tools, team } = this.#makings;
    const all = [{ definition, tools }, ...team.values()];
    return all.filter(
      (one, i) =>
        one.definition.mcp_servers.length > 0 && !(i > 0 && one.definition.name === definition.name),
    );
  }

  /** The same agent, with what its servers offer. */
  withServed(served: Served): BoundAgent {
    const own = served.get(this.definition.name) ?? [];
    return new BoundAgent({ ...this.#makings, served: own, servedOf: served });
  }

  /** The tools as a provider takes them; some want every argument required. The planner has none of the loop's (P4). */
  wireTools(provider: string, forPlanner = false): LanguageModelV4FunctionTool[] | undefined {
    const strict = STRICT.test(provider);
    const kind = forPlanner ? (strict ? "planner, strict" : "planner") : strict ? "strict" : "plain";
    let made = this.#wireTools.get(kind);
    if (made === undefined) {
      const shown = this.tools.filter((tool) => !forPlanner || this.loopTool(tool.name) === undefined);
      made = shown.map((tool) => this.#wireTool(tool, strict));
      this.#wireTools.set(kind, made);
    }
    return made.length === 0 ? undefined : made;
  }

  #wireTool({ name, description, input }: Tool, strict: boolean): LanguageModelV4FunctionTool {
    const schema = withInjected(input.jsonSchema, this.definition.injected_tool_args, strict);
    const inputSchema = schema as LanguageModelV4FunctionTool["inputSchema"]; // JSON Schema by its own word
    return { type: "function", name, description, inputSchema };
  }

  /** The system prompt of the planning phase (P3). */
  get plannerSystem(): SystemPrompt {
    const { instructions, planning_instructions } = this.definition;
    this.#plannerSystem ??= { role: "system", content: plannerSystem(instructions, planning_instructions) };
    return this.#plannerSystem;
  }

  /** The same agent with tools added at the end of its list (H9). What it is pinned to stays as it was. */
  withTools(late: readonly Tool[]): BoundAgent {
    return new BoundAgent({ ...this.#makings, late });
  }

  /** What runs at a point. */
  entries(point: HookPoint): readonly Entry[] {
    return this.#makings.entries.get(point) ?? NOBODY;
  }

  /** What a tool has the loop do, if it is one that does. */
  loopTool(name: string): LoopTool | undefined {
    return this.#loopTools.byName.get(name);
  }

  /** Its tools that sub-agents may have (S3). */
  get childTools(): readonly string[] {
    const { tools, served } = this.#makings;
    return [...tools, ...served].filter((tool) => tool.childSafe).map((tool) => tool.name);
  }

  /** The agent that does a job: narrowed, and under the same rails, gates and transformers (S4, R14). */
  child(job: Job): BoundAgent {
    if (!isPlain(job)) return this.#narrowed(job);
    this.#plainChild ??= this.#narrowed(job);
    return this.#plainChild;
  }

  /** Whoever does what a child is begun for. */
  childFor({ job, node }: Pick<ChildInput, "job" | "node">): BoundAgent {
    if (job !== undefined) return this.child(job);
    if (node === undefined) throw new Error("a child is begun for nothing");
    const of = node.chunk ? `${node.node}/part` : node.node;
    let made = this.#handed.get(of);
    if (made === undefined) {
      made = node.chunk ? this.#partOf(node.node) : this.#atNode(node.node);
      this.#handed.set(of, made);
    }
    return made;
  }

  /** Reads what a workflow in this one is to be started with. */
  readInputOf(workflow: string, given: unknown): Maybe<ReadInput> {
    const member = this.#makings.team.get(workflowKey(workflow));
    const definition = member?.definition.workflow;
    if (member === undefined || definition === undefined)
      return { ok: false, problem: `there is no workflow "${workflow}"` };
    return member.readInput ? member.readInput(given) : readWorkflowInput(definition, given);
  }

  /** An agent or a workflow as a node of this one: whole, and under our rails and gates as well as its own (R14). */
  #atNode(id: string): BoundAgent {
    const node = this.definition.workflow?.nodes[id];
    const work = node?.kind === "map" ? node.do : node;
    const name =
      work?.kind === "agent" ? work.agent : work?.kind === "workflow" ? workflowKey(work.workflow) : "";
    const member = this.#makings.team.get(name);
    if (member === undefined) throw new Error(`nobody is there to do what the node "${id}" is for`);
    const { definition, tools, models, planningModel, output, pipeline } = member;
    const { team, entries } = this.#makings;
    const own = entriesOf(member.hookManager);
    return new BoundAgent({
      definition: {
        ...definition,
        hitl_tools: [...new Set([...definition.hitl_tools, ...this.definition.hitl_tools])],
      },
      tools,
      served: [],
      brought: [],
      models,
      planningModel,
      output,
      pipeline,
      entries: entries.size === 0 ? own : joined(this.#named(this), own, definition.name),
      team,
      servedOf: NOTHING_SERVED,
      hasExclusive: this.hasExclusive,
      depth: 0,
      isSupplied: false,
    });
  }

  #partOf(id: string): BoundAgent {
    const { workflow } = this.definition;
    if (workflow === undefined) throw new Error("only a workflow has nodes");
    const part = chunkOf(workflow, id);
    const output = compileSchema({});
    return new BoundAgent({
      ...this.#makings,
      definition: { ...this.definition, output_schema: output.jsonSchema, workflow: part },
      output,
    });
  }

  #narrowed(job: Job): BoundAgent {
    const { tools, served, late, depth, ...same } = this.#makings;
    const definition = childDefinition(this.definition, job, depth + 1, this.childTools);
    const mayHave = (tool: Tool) => definition.tools?.includes(tool.name) ?? false;
    return new BoundAgent({
      ...same,
      definition,
      tools: tools.filter(mayHave),
      served: served.filter(mayHave),
      brought: [], // the client is asked by whom it talks to
      // Whoever is given no tools has none.
      ...(late === undefined || job.tool_names?.length === 0 ? {} : { late }),
      output: readSchema(job),
      pipeline: { pre: [], post: [], stream: this.transformers },
      team: new Map(),
      depth: depth + 1,
      isSupplied: true,
    });
  }

  /**
   * The agent after handoffs, by their names in order: the last one's definition, tools and post-hooks, under the rails,
   * gates and transformers of all; the answer's shape stays the first one's (S7, R14).
   */
  handedTo(chain: string): BoundAgent {
    let made = this.#handed.get(chain);
    if (made === undefined) {
      const at = chain.lastIndexOf("/");
      const name = chain.slice(at + 1);
      const before = at < 0 ? this : this.handedTo(chain.slice(0, at));
      const hadIt = [this.definition.name, ...chain.slice(0, Math.max(at, 0)).split("/")].includes(name);
      made = before.#joinedBy(name, this, hadIt);
      this.#handed.set(chain, made);
    }
    return made;
  }

  /** `hadIt`: its rails, gates and transformers are among ours already. */
  #joinedBy(name: string, first: BoundAgent, hadIt: boolean): BoundAgent {
    const member = first.#makings.team.get(name);
    if (member === undefined) throw new Error(`there is no agent "${name}" to hand over to`);
    const { definition, tools, models, planningModel, pipeline } = member;
    const before = this.#named(first);
    const stream = hadIt ? this.transformers : [...this.transformers, ...pipeline.stream];
    return new BoundAgent({
      definition: {
        ...definition,
        max_steps: first.definition.max_steps,
        output_schema: first.definition.output_schema,
        // All of them, whoever has these tools: they gate those of agents after this one too.
        hitl_tools: [...new Set([...definition.hitl_tools, ...this.definition.hitl_tools])],
        stream_release: this.held ? "after_rails" : definition.stream_release,
      },
      tools,
      served: first.#makings.servedOf.get(name) ?? [],
      brought: first.#makings.brought,
      models,
      planningModel,
      output: first.output,
      pipeline: { pre: [], post: pipeline.post, stream },
      entries: hadIt ? before : joined(before, entriesOf(member.hookManager), name),
      team: first.#makings.team,
      servedOf: first.#makings.servedOf,
      hasExclusive: this.hasExclusive,
      depth: first.#makings.depth,
      isSupplied: first.#makings.isSupplied,
    });
  }

  /** What runs at each point, with the names read `agent/rail`. */
  #named(first: BoundAgent): ReadonlyMap<HookPoint, readonly Entry[]> {
    if (this !== first) return this.#makings.entries;
    const { name } = this.definition;
    return new Map([...this.#makings.entries].map(([point, list]) => [point, named(list, name)]));
  }
}

interface SystemPrompt {
  role: "system";
  content: string;
}

/** A job with nothing but a task to it: they all get the same agent. */
function isPlain({ tool_names, system_prompt, output_schema }: Job): boolean {
  return tool_names === null && output_schema === null && system_prompt.trim() === "";
}

function readSchema({ output_schema }: Job): CompiledSchema | null {
  if (output_schema === null) return null;
  const read = readUntrustedSchema(output_schema);
  if (!read.ok) throw new Error(`a job was let through whose schema cannot be used: ${read.problem}`);
  return read.schema;
}

function named(entries: readonly Entry[], agent: string): readonly Entry[] {
  return entries.map((entry) =>
    entry.rail === undefined ? entry : { ...entry, as: entry.as ?? `${agent}/${entry.rail.name}` },
  );
}

/** One list: rails by priority, the earlier agent's first on ties, where its rails stood; plain hooks in their order. */
function joined(
  before: ReadonlyMap<HookPoint, readonly Entry[]>,
  added: ReadonlyMap<HookPoint, readonly Entry[]>,
  agent: string,
): ReadonlyMap<HookPoint, readonly Entry[]> {
  const points = HOOK_POINTS.filter((point) => before.has(point) || added.has(point));
  return new Map(
    points.map((point) => {
      const all = [...(before.get(point) ?? NOBODY), ...named(added.get(point) ?? NOBODY, agent)];
      const byPriority = all
        .filter((entry) => entry.rail !== undefined)
        .sort((a, b) => (a.rail?.priority ?? 0) - (b.rail?.priority ?? 0));
      const at = all.findIndex((entry) => entry.rail !== undefined);
      const plain = all.filter((entry) => entry.rail === undefined);
      const front = at < 0 ? plain.length : at;
      return [point, [...plain.slice(0, front), ...byPriority, ...plain.slice(front)]] as const;
    }),
  );
}

function pinnedMember(member: AgentBinding): PinnedAgent {
  const { definition, pipeline } = member;
  const entries = entriesOf(member.hookManager);
  return {
    definition: { ...definition, tools: member.tools.map((tool) => tool.name) },
    points: [...entries.keys()],
    pre_hooks: pipeline.pre.length > 0,
    post_hooks: pipeline.post.length > 0,
    held_by: holders(definition, entries.get("POST_LLM_CALL") ?? NOBODY),
    servers: false,
    team: {},
  };
}

/** An agent that is bound, and of whom it was made: itself and those it may hand over to. */
interface Bound {
  readonly agent: BoundAgent;
  readonly makers: readonly { readonly binding: AgentBinding; readonly version: number }[];
}

const bound = new WeakMap<AgentBinding, Bound>();

/** What a run brings to its agent from elsewhere. */
export interface Company {
  readonly team?: ReadonlyMap<string, AgentBinding>;
  readonly served?: Served;
}

/** Tools of servers, by the agent they are for. */
export type Served = ReadonlyMap<string, readonly Tool[]>;
const NOTHING_SERVED: Served = new Map();

/** Fixes an agent for one run. Only hook managers can change, so it is prepared again only when one did. */
export function bindAgent(
  agent: AgentBinding,
  { team = teamOf(agent).members, served = NOTHING_SERVED }: Company = {},
): BoundAgent {
  const isKept = served.size === 0;
  const known = isKept ? bound.get(agent) : undefined;
  if (known !== undefined && isMadeOf(known, agent, team)) return known.agent;
  const { definition, tools, clientTools = [], models, planningModel, output, pipeline, hookManager } = agent;
  const made = new BoundAgent({
    definition,
    tools,
    served: served.get(definition.name) ?? [],
    brought: clientTools,
    models,
    planningModel,
    output,
    pipeline,
    entries: entriesOf(hookManager),
    team,
    servedOf: served,
    hasExclusive: [agent, ...team.values()].some((one) => one.tools.some((tool) => tool.exclusive)),
    depth: 0,
    isSupplied: false,
  });
  const makers = [agent, ...team.values()].map((one) => ({ binding: one, version: one.hookManager.version }));
  if (isKept) bound.set(agent, { agent: made, makers });
  return made;
}

function isMadeOf({ makers }: Bound, agent: AgentBinding, team: Makings["team"]): boolean {
  if (makers.length !== team.size + 1 || makers[0]?.version !== agent.hookManager.version) return false;
  let at = 1;
  for (const member of team.values()) {
    const maker = makers[at++];
    if (maker?.binding !== member || maker.version !== member.hookManager.version) return false;
  }
  return true;
}

function entriesOf(manager: HookManager): ReadonlyMap<HookPoint, readonly Entry[]> {
  const entries = HOOK_POINTS.map((point) => [point, manager.entries(point)] as const);
  return new Map(entries.filter(([, list]) => list.length > 0));
}

/** Who keeps text from being shown at once. Those that cannot change it do not. */
function holders({ stream_release }: AgentDefinition, entries: readonly Entry[]): readonly string[] {
  if (stream_release === "live") return [];
  const deciding = entries.filter(
    (entry) => entry.rail === undefined || (entry.rail.mode === "enforce" && entry.rail.onError === "abort"),
  );
  const names = deciding.map(nameOf);
  return stream_release === "after_rails" && names.length === 0 ? ["stream_release"] : names;
}
