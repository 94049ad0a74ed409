import type { PinnedAgent } from "../schema/agent.ts";
import type { TurnState } from "../schema/turn-state.ts";

/**
 * Who has the turn. After a handoff that is another agent, with its own pipeline; the step count and the shape of the
 * answer stay the first one's, and everybody's rails stay on (S7, R14).
 */
export function acting(agent: PinnedAgent, state: TurnState): PinnedAgent {
  if (state.agent === null) return agent;
  const name = actingName(agent, state);
  const target = agent.team[name];
  if (target === undefined) throw new Error(`there is no agent "${name}" to go on with`);
  const chain = [agent, ...state.handoffs.flatMap(({ to }) => agent.team[to] ?? [])];
  const { max_steps, output_schema } = agent.definition;
  return {
    ...target,
    definition: { ...target.definition, max_steps, output_schema },
    points: [...new Set(chain.flatMap((one) => one.points))],
    team: agent.team,
  };
}

/** Its name: the last of those the turn was handed to. */
export function actingName(agent: PinnedAgent, { agent: chain }: TurnState): string {
  return chain === null ? agent.definition.name : chain.slice(chain.lastIndexOf("/") + 1);
}
