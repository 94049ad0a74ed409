import type { AgentDefinition } from "../schema/agent.ts";
import { handoffTools } from "../subagents/handoff.ts";
import { type OfferedTool, type SpawnTool, spawnTools } from "../subagents/spawn-tools.ts";
import { defineTool, type Tool } from "../tools/define-tool.ts";
import type { AgentBinding } from "./bound-agent.ts";

/** A tool that has the loop do something, once rails and humans have let it: start children, or pass the turn on. */
export type LoopTool =
  | { readonly kind: "spawn"; readonly tool: SpawnTool }
  | { readonly kind: "handoff"; readonly agent: string };

export interface LoopTools {
  readonly tools: readonly Tool[];
  readonly byName: ReadonlyMap<string, LoopTool>;
}

export const NO_LOOP_TOOLS: LoopTools = Object.freeze({ tools: [], byName: new Map() });

/** The spawn and handoff tools of an agent (S1, S2, S7). */
export function loopToolsOf(definition: AgentDefinition, team: ReadonlyMap<string, AgentBinding>): LoopTools {
  const { allow_self_spawn: self, allow_parallel_subagents: parallel, handoffs } = definition;
  if (!self && !parallel && handoffs.length === 0) return NO_LOOP_TOOLS;
  const forSpawning = spawningTools(self, parallel, definition.max_parallel_subagents);
  if (handoffs.length === 0) return forSpawning;
  const forHanding = handingTools(definition, team);
  return {
    tools: [...forSpawning.tools, ...forHanding.tools],
    byName: new Map([...forSpawning.byName, ...forHanding.byName]),
  };
}

/** One set for all agents that may spawn alike: sub-agents are many, and reading a schema takes longer than a step. */
const spawning = new Map<string, LoopTools>();

function spawningTools(self: boolean, parallel: boolean, max: number): LoopTools {
  const kind = `${self} ${parallel} ${max}`;
  let made = spawning.get(kind);
  if (made === undefined) {
    const offered = spawnTools({ self, parallel, max });
    const byName = offered.map(({ name }) => [name, { kind: "spawn", tool: name as SpawnTool }] as const); // both of its names are
    made = { tools: offered.map((tool) => toolOf(tool)), byName: new Map(byName) };
    spawning.set(kind, made);
  }
  return made;
}

/** Those of an agent, as long as the same agents are behind them. */
const handing = new WeakMap<
  AgentDefinition,
  LoopTools & { readonly to: readonly (AgentBinding | undefined)[] }
>();

function handingTools(definition: AgentDefinition, team: ReadonlyMap<string, AgentBinding>): LoopTools {
  const { handoffs } = definition;
  const to = handoffs.map((name) => team.get(name));
  const known = handing.get(definition);
  if (known?.to.every((member, i) => member === to[i])) return known;
  const targets = handoffs.flatMap((name, i) => {
    const member = to[i];
    return member === undefined ? [] : [{ name, description: firstLine(member.definition.instructions) }];
  });
  const offered = handoffTools(targets);
  const byName = offered.map(({ name, agent }) => [name, { kind: "handoff", agent }] as const);
  const made = { to, tools: offered.map((tool) => toolOf(tool, true)), byName: new Map(byName) };
  handing.set(definition, made);
  return made;
}

/** A turn is handed over with nothing else going on. */
function toolOf({ name, description, input_schema }: OfferedTool, exclusive = false): Tool {
  return defineTool({
    name,
    description,
    input: input_schema,
    exclusive,
    childSafe: false,
    execute() {
      throw new Error(`${name} is the loop's to carry out`);
    },
  });
}

const MAX_LINE = 200;

function firstLine(instructions: string): string {
  const line = instructions.trim().split("\n", 1)[0] ?? "";
  return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line;
}
