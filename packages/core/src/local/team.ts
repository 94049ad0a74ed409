import type { AgentBinding } from "./bound-agent.ts";

/** Finds an agent that is not at hand, by name. */
export type FindAgent = (name: string) => AgentBinding | undefined;

export interface Team {
  /** Everybody a turn may be handed to, from this agent or from those after it. */
  readonly members: ReadonlyMap<string, AgentBinding>;
  readonly missing: readonly string[];
}

/** What it is called among others: a workflow and an agent may have the same name, and no name has a slash. */
export function teamName({ definition: { name, workflow } }: Pick<AgentBinding, "definition">): string {
  return workflow === undefined ? name : workflowKey(name);
}

export function workflowKey(name: string): string {
  return `workflow/${name}`;
}

const NOBODY: Team = { members: new Map(), missing: [] };

/** Follows `handoffs` from agent to agent: those that came as objects, then those an engine knows. */
export function teamOf(agent: AgentBinding, find: FindAgent = () => undefined): Team {
  if (agent.definition.handoffs.length === 0) return NOBODY;
  const atHand = new Map<string, AgentBinding>();
  gather(agent, atHand);
  const members = new Map<string, AgentBinding>();
  const missing = new Set<string>();
  const open = [agent];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    for (const name of one.definition.handoffs) {
      if (members.has(name)) continue;
      const found = atHand.get(name) ?? find(name);
      if (found === undefined) missing.add(name);
      else {
        members.set(name, found);
        open.push(found);
      }
    }
  }
  return { members, missing: [...missing] };
}

/** Everybody reachable as an object; the first of a name stays. */
function gather(agent: AgentBinding, atHand: Map<string, AgentBinding>): void {
  const name = teamName(agent);
  if (atHand.has(name)) return;
  atHand.set(name, agent);
  for (const other of agent.team) gather(other, atHand);
}
