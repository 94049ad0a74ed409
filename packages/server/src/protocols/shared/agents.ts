import type { Trackside } from "@trackside/host";
import type { AgentBinding, Tool } from "trackside";
import { Refusal } from "./refusal.ts";

export function findAgent(trackside: Trackside, name: string): AgentBinding {
  const agent = trackside.engine.registry.get(name);
  if (agent !== undefined) return agent;
  throw new Refusal(404, "agent_unknown", `There is no agent ${JSON.stringify(name.slice(0, 100))}.`);
}

/** The tools of an agent and of everybody it may hand the turn to, by name. */
export function toolsOf(trackside: Trackside, name: string): ReadonlyMap<string, Tool> {
  const { registry } = trackside.engine;
  const agent = registry.get(name);
  if (agent === undefined) return new Map();
  const all = [...registry.teamOf(agent).values(), agent].flatMap(({ tools }) => tools);
  return new Map(all.map((tool) => [tool.name, tool]));
}

/** Tools that the client itself runs (T8). */
export function clientTools(tools: ReadonlyMap<string, Tool>): ReadonlySet<string> {
  return new Set([...tools.values()].flatMap(({ executor, name }) => (executor === "client" ? [name] : [])));
}

const MAX_DESCRIPTION = 300;

/** What an agent is for: the first line of its instructions. */
export function describeAgent({ definition }: AgentBinding): string {
  const [line = ""] = definition.instructions.trim().split("\n");
  const text = line.trim() || `The agent ${definition.name}`;
  return text.length > MAX_DESCRIPTION ? `${text.slice(0, MAX_DESCRIPTION - 1)}…` : text;
}
