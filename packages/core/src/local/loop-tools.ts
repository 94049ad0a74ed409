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

const NONE: LoopTools = Object.freeze({ tools: [], byName: new Map() });

/** The spawn and handoff tools of an agent (S1, S2, S7). */
export function loopToolsOf(definition: AgentDefinition, team: ReadonlyMap<string, AgentBinding>): LoopTools {
  const { allow_self_spawn: self, allow_parallel_subagents: parallel, handoffs } = definition;
  if (!self && !parallel && handoffs.length === 0) return NONE;
  const byName = new Map<string, LoopTool>();
  const tools: Tool[] = [];
  for (const offered of spawnTools({ self, parallel, max: definition.max_parallel_subagents })) {
    tools.push(toolOf(offered));
    byName.set(offered.name, { kind: "spawn", tool: offered.name as SpawnTool }); // both of its names are
  }
  const targets = handoffs.flatMap((name) => {
    const member = team.get(name);
    return member === undefined ? [] : [{ name, description: firstLine(member.definition.instructions) }];
  });
  for (const { agent, ...offered } of handoffTools(targets)) {
    tools.push(toolOf(offered, true));
    byName.set(offered.name, { kind: "handoff", agent });
  }
  return { tools, byName };
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
