import type { AgentDefinition } from "../schema/agent.ts";
import type { Job } from "./jobs.ts";

/** Children as deep as this have no spawn tools. The root is at depth 0. */
export const MAX_DEPTH = 3;

/**
 * The agent that does a job: the parent's definition, narrowed. `depth` is the child's own (a child of the root has 1),
 * `childTools` the parent's tools that children may have. The parent's definition is not touched (S3, S4, R14).
 */
export function childDefinition(
  parent: AgentDefinition,
  job: Job,
  depth: number,
  childTools: readonly string[],
): AgentDefinition {
  const named = job.tool_names;
  const tools = named === null ? childTools : childTools.filter((name) => named.includes(name));
  const spawns = named === null && depth < MAX_DEPTH;
  const servers = parent.mcp_servers.filter(
    (server) => named === null || tools.some((tool) => isOf(server, tool)),
  );
  const child = {
    ...parent,
    instructions: joined(parent.instructions, job.system_prompt),
    planning_enabled: false,
    tools: [...tools],
    mcp_servers: servers,
    handoffs: [],
    hooks: withoutPipeline(parent.hooks),
    output_schema: job.output_schema,
    allow_self_spawn: parent.allow_self_spawn && spawns,
    allow_parallel_subagents: parent.allow_parallel_subagents && spawns,
  };
  return { ...child, hitl_tools: parent.hitl_tools.filter((name) => isPresent(name, child, named !== null)) };
}

/** The user message a child starts from. */
export function childMessage(job: Job): string {
  const context = job.additional_context.trim();
  return context === "" ? `Task:\n${job.task}` : `Task:\n${job.task}\n\nAdditional context:\n${context}`;
}

/** The turn pipeline belongs to the user's turn; transformers and hooks on points see everything (R14). */
function withoutPipeline({ stream, on }: AgentDefinition["hooks"]): AgentDefinition["hooks"] {
  return { ...(stream === undefined ? {} : { stream }), ...(on === undefined ? {} : { on }) };
}

/** A gate is dropped only if the child cannot have the tool behind it. */
function isPresent(name: string, child: Omit<AgentDefinition, "hitl_tools">, narrowed: boolean): boolean {
  if (name === "spawn_self") return child.allow_self_spawn;
  if (name === "spawn_parallel") return child.allow_parallel_subagents;
  if (name === "read_artifact" || child.tools?.includes(name)) return true;
  return !narrowed && child.mcp_servers.some((server) => isOf(server, name));
}

function isOf(server: AgentDefinition["mcp_servers"][number], tool: string): boolean {
  return tool.startsWith(`mcp__${server.name}__`);
}

function joined(instructions: string, added: string): string {
  if (added.trim() === "") return instructions;
  return instructions === "" ? added : `${instructions}\n\n${added}`;
}
