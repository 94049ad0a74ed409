import { type AgentDefinition, parseModelString } from "trackside";
import { teamName } from "trackside/engine";
import type { ToolkitNames } from "../agents/toolkit.ts";
import type { PinnedTeam } from "../journal/agent-registry.ts";

/** What a worker has: agents in code by name, and a toolkit if it takes agents that are in no code. */
export interface WorkerHas {
  readonly agents: Readonly<Record<string, string>>;
  readonly toolkit?: ToolkitNames;
  /** It makes the tools again that a request brought along. Workers from before there were any do not say so. */
  readonly client_tools?: true;
}

/** What a stored agent as it is pinned needs that a worker does not have, by name. */
export function lacks({ definition, team }: PinnedTeam, { agents, toolkit }: WorkerHas): readonly string[] {
  if (toolkit === undefined) return ["a toolkit"];
  const members = Object.values(team).filter((one) => agents[teamName({ definition: one })] === undefined);
  return [...new Set([definition, ...members].flatMap((one) => lacksFor(one, toolkit)))];
}

function lacksFor(definition: AgentDefinition, toolkit: ToolkitNames): readonly string[] {
  const { tools, rails, mcp_servers, model, planning_model, fallback_models } = definition;
  const models = [model, ...(planning_model === null ? [] : [planning_model]), ...fallback_models];
  return [
    ...without("the tool", tools ?? [], toolkit.tools),
    ...without(
      "the rail",
      rails.map(({ use }) => use),
      toolkit.rails,
    ),
    ...without("the hook", hooksOf(definition), toolkit.hooks),
    ...without(
      "the MCP server",
      mcp_servers.map(({ name }) => name),
      toolkit.mcp_servers,
    ),
    ...without(
      "the model",
      models.filter((one) => !parseModelString(one).ok),
      toolkit.models,
    ),
  ];
}

function without(what: string, wanted: readonly string[], there: readonly string[]): readonly string[] {
  return wanted.filter((name) => !there.includes(name)).map((name) => `${what} "${name}"`);
}

function hooksOf({
  hooks: { pre = [], post = [], stream = [], on = {} },
}: AgentDefinition): readonly string[] {
  const before = pre.flatMap((ref) => ("parallel" in ref ? ref.parallel : [ref]));
  const points = Object.values(on).flatMap((refs) => refs ?? []);
  return [...before, ...post, ...stream, ...points].map(({ use }) => use);
}
