import type {
  LanguageModelV2,
  LanguageModelV3,
  LanguageModelV4,
  LanguageModelV4FunctionTool,
} from "@ai-sdk/provider";
import type { HookManager } from "../hooks/hook-manager.ts";
import type { ParallelGroup, PostHook, PreHook } from "../hooks/pipeline-hooks.ts";
import { type Entry, nameOf } from "../rails/dispatch.ts";
import type { AgentDefinition, PinnedAgent } from "../schema/agent.ts";
import { HOOK_POINTS, type HookPoint } from "../schema/points.ts";
import type { TransformerFactory } from "../stream/transform.ts";
import type { CompiledSchema } from "../tools/compile-schema.ts";
import type { Tool } from "../tools/define-tool.ts";
import { withInjected } from "../tools/injected.ts";

/** A model of any AI SDK provider package. */
export type LanguageModel = LanguageModelV4 | LanguageModelV3 | LanguageModelV2;

/** What an engine needs of an agent: its definition with the functions it names. */
export interface AgentBinding {
  readonly definition: AgentDefinition;
  readonly tools: readonly Tool[];
  /** The agent's model, then its fallbacks: a `provider:model` string or an object. */
  readonly models: readonly (string | LanguageModel)[];
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
}

const NOBODY: readonly Entry[] = Object.freeze([]);

/** Providers that read schemas strictly: a property that is not required is refused, or made required by them. */
const STRICT = /^(openai|azure)\b/;

/** An agent fixed for one run: later changes to it do not reach the run. */
export class BoundAgent {
  readonly definition: AgentDefinition;
  readonly tools: readonly Tool[];
  readonly models: AgentBinding["models"];
  readonly output: CompiledSchema | null;
  readonly preHooks: AgentBinding["pipeline"]["pre"];
  readonly postHooks: AgentBinding["pipeline"]["post"];
  readonly transformers: AgentBinding["pipeline"]["stream"];
  readonly toolByName: ReadonlyMap<string, Tool>;
  readonly system: { role: "system"; content: string } | null;
  readonly pinned: PinnedAgent;
  /** Streamed text waits until the rails have passed (R15). */
  readonly held: boolean;
  /** Arguments may be shown while they are written: nobody has to see them first (R4). */
  readonly showsInput: boolean;
  readonly #entries: ReadonlyMap<HookPoint, readonly Entry[]>;
  readonly #wireTools: { plain?: LanguageModelV4FunctionTool[]; strict?: LanguageModelV4FunctionTool[] } = {};

  constructor(agent: AgentBinding) {
    const { definition, tools, pipeline } = agent;
    // The definition a run is pinned to lists every bound name (A1).
    this.definition = Object.freeze({ ...definition, tools: Object.freeze(tools.map((tool) => tool.name)) });
    this.tools = tools;
    this.models = agent.models;
    this.output = agent.output;
    this.preHooks = pipeline.pre;
    this.postHooks = pipeline.post;
    this.transformers = pipeline.stream;
    this.toolByName = new Map(tools.map((tool) => [tool.name, tool]));
    this.system =
      definition.instructions === "" ? null : { role: "system", content: definition.instructions };
    this.#entries = entriesOf(agent.hookManager);
    const heldBy = holders(definition, this.entries("POST_LLM_CALL"));
    this.held = heldBy.length > 0;
    const guarded = this.entries("PRE_TOOL_CALL").some(({ rail }) => rail?.mode !== "shadow");
    this.showsInput = !guarded && this.transformers.length === 0;
    this.pinned = Object.freeze({
      definition: this.definition,
      points: [...this.#entries.keys()],
      pre_hooks: this.preHooks.length > 0,
      post_hooks: this.postHooks.length > 0,
      held_by: heldBy,
    });
  }

  /** The tools as a provider takes them; some want every argument required. */
  wireTools(provider: string): LanguageModelV4FunctionTool[] | undefined {
    if (this.tools.length === 0) return undefined;
    const strict = STRICT.test(provider);
    const kind = strict ? "strict" : "plain";
    this.#wireTools[kind] ??= this.tools.map((tool) => this.#wireTool(tool, strict));
    return this.#wireTools[kind];
  }

  #wireTool({ name, description, input }: Tool, strict: boolean): LanguageModelV4FunctionTool {
    const schema = withInjected(input.jsonSchema, this.definition.injected_tool_args, strict);
    const inputSchema = schema as LanguageModelV4FunctionTool["inputSchema"]; // JSON Schema by its own word
    return { type: "function", name, description, inputSchema };
  }

  /** What runs at a point. */
  entries(point: HookPoint): readonly Entry[] {
    return this.#entries.get(point) ?? NOBODY;
  }
}

const bound = new WeakMap<AgentBinding, { version: number; agent: BoundAgent }>();

/** Fixes an agent for one run. Only its hook manager can change, so it is prepared again only when that did. */
export function bindAgent(agent: AgentBinding): BoundAgent {
  const { version } = agent.hookManager;
  const known = bound.get(agent);
  if (known?.version === version) return known.agent;
  const made = new BoundAgent(agent);
  bound.set(agent, { version, agent: made });
  return made;
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
