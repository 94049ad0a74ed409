import type { Trackside } from "@trackside/host";
import type { ClientTool, Tool } from "trackside";
import { clientTools } from "./agents.ts";
import type { Turn } from "./turn.ts";

/** The tools that a request brings to its run. Those the agent defines for clients stay as it defines them. */
export function broughtTools(
  given: readonly ClientTool[],
  tools: ReadonlyMap<string, Tool>,
): readonly ClientTool[] {
  const known = clientTools(tools);
  return given.filter(({ name }) => !known.has(name));
}

/** The tools that a client runs in this turn: the agent's, and those that came with the request the run began with. */
export async function clientToolsOf(
  trackside: Trackside,
  tenant: string,
  { runId }: Turn,
  tools: ReadonlyMap<string, Tool>,
): Promise<ReadonlySet<string>> {
  const { definition } = await trackside.runs.opening(runId, { tenant });
  const brought = definition?.["client_tools"];
  const names = Array.isArray(brought) ? brought.flatMap(nameOf) : [];
  return new Set([...clientTools(tools), ...names]);
}

function nameOf(tool: unknown): readonly string[] {
  const isNamed = typeof tool === "object" && tool !== null && "name" in tool;
  return isNamed && typeof tool.name === "string" ? [tool.name] : [];
}
