import type {
  LanguageModelV2,
  LanguageModelV3,
  LanguageModelV4,
  LanguageModelV4FunctionTool,
} from "@ai-sdk/provider";
import type { HookManager } from "../hooks/hook-manager.ts";
import type { AgentDefinition, PinnedAgent } from "../schema/agent.ts";
import type { CompiledSchema } from "../tools/compile-schema.ts";
import type { Tool } from "../tools/define-tool.ts";

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
}

/** The same for one run, with what can be prepared once. */
export interface BoundAgent extends AgentBinding {
  readonly pinned: PinnedAgent;
  readonly toolByName: ReadonlyMap<string, Tool>;
  readonly wireTools: LanguageModelV4FunctionTool[] | undefined;
  readonly system: { role: "system"; content: string } | null;
}

type Prepared = Omit<BoundAgent, "hookManager" | "pinned">;

const prepared = new WeakMap<AgentBinding, Prepared>();

/** Fixes an agent for one run. Everything but the hooks is immutable and prepared once for each agent. */
export function bindAgent(agent: AgentBinding): BoundAgent {
  let ready = prepared.get(agent);
  if (ready === undefined) {
    ready = prepare(agent);
    prepared.set(agent, ready);
  }
  const hookManager = agent.hookManager.snapshot();
  return { ...ready, hookManager, pinned: { definition: ready.definition, points: hookManager.points } };
}

function prepare({ definition, tools, models, output }: AgentBinding): Prepared {
  const wireTools = tools.map(
    (tool): LanguageModelV4FunctionTool => ({
      type: "function",
      name: tool.name,
      description: tool.description,
      inputSchema: tool.input.jsonSchema as LanguageModelV4FunctionTool["inputSchema"], // JSON Schema by its own word
    }),
  );
  return {
    // The definition a run is pinned to lists every bound name (A1).
    definition: Object.freeze({ ...definition, tools: Object.freeze(tools.map((tool) => tool.name)) }),
    tools,
    models,
    output,
    toolByName: new Map(tools.map((tool) => [tool.name, tool])),
    wireTools: wireTools.length > 0 ? wireTools : undefined,
    system: definition.instructions === "" ? null : { role: "system", content: definition.instructions },
  };
}
