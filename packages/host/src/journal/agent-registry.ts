import {
  type AgentBinding,
  type AgentDefinition,
  type Approval,
  type DecisionInput,
  HOOK_POINTS,
  type Tool,
  TracksideError,
} from "trackside";
import { bindAgent, decisionProblem, digestOf } from "trackside/engine";

export interface Pinned {
  readonly digest: string;
  readonly body: string;
}

/** The agents of this process, by name. A run is pinned to a definition; the functions it names are found here (X2). */
export class AgentRegistry {
  readonly #agents = new Map<string, AgentBinding>();
  readonly #pinned = new WeakMap<AgentBinding, { version: number; pinned: Pinned }>();

  constructor(agents: readonly AgentBinding[]) {
    for (const agent of agents) {
      const { name } = agent.definition;
      if (this.#agents.has(name))
        throw new TracksideError(
          "config_invalid",
          `agents: two of them are called "${name}". Names are unique.`,
        );
      this.refuse(agent);
      this.#agents.set(name, agent);
    }
  }

  get names(): readonly string[] {
    return [...this.#agents.keys()];
  }

  get(name: string): AgentBinding | undefined {
    return this.#agents.get(name);
  }

  /** Makes an agent known that a run was started with. The first of a name stays. */
  add(agent: AgentBinding): void {
    if (!this.#agents.has(agent.definition.name)) this.#agents.set(agent.definition.name, agent);
  }

  /** After a restart every function is found by its name again: one without cannot be part of a durable run. */
  refuse(agent: AgentBinding): void {
    const unnamed = HOOK_POINTS.filter((point) =>
      agent.hookManager.entries(point).some((entry) => entry.rail === undefined && entry.hook.name === ""),
    );
    if (unnamed.length === 0) return;
    const { name } = agent.definition;
    throw new TracksideError(
      "not_available",
      `The agent "${name}" has a hook without a name on ${unnamed.join(", ")}. A durable run finds its functions again by name: write \`function audit(ctx) {…}\`, not \`(ctx) => …\`.`,
    );
  }

  /** The definition a run of this agent is pinned to. */
  pinned(agent: AgentBinding): Pinned {
    const { version } = agent.hookManager;
    const known = this.#pinned.get(agent);
    if (known?.version === version) return known.pinned;
    const { definition } = bindAgent(agent).pinned;
    const body = JSON.stringify(definition);
    const pinned = { digest: digestOf(JSON.parse(body)), body };
    this.#pinned.set(agent, { version, pinned });
    return pinned;
  }

  /** An agent with the definition a run is pinned to and the functions there are now, or why that cannot be. */
  bind(
    name: string,
    definition: AgentDefinition,
    digest: string,
  ): { binding: AgentBinding } | { problem: string } {
    const agent = this.#agents.get(name);
    if (agent === undefined)
      return { problem: `there is no agent "${name}" here. Register it and resume the run.` };
    if (this.pinned(agent).digest === digest) return { binding: agent };
    const byName = new Map(agent.tools.map((tool) => [tool.name, tool]));
    const tools = (definition.tools ?? []).flatMap((tool) => byName.get(tool) ?? []);
    const missing = (definition.tools ?? [])
      .filter((tool) => !byName.has(tool))
      .map((tool) => `the tool "${tool}"`);
    for (const part of ["rails", "hooks", "model", "fallback_models", "output_schema"] as const) {
      if (JSON.stringify(definition[part]) !== JSON.stringify(agent.definition[part]))
        missing.push(`its ${part}`);
    }
    if (missing.length > 0) {
      return {
        problem: `the agent "${name}" has changed since the run began, and what the run needs is gone: ${missing.join(", ")}. Bring it back and resume the run, or cancel it.`,
      };
    }
    return { binding: { ...bindingOf(agent), definition, tools } };
  }

  /** Says what is wrong with a decision, by the tool itself where it is known here. */
  async checkDecision(approval: Approval, decision: DecisionInput): Promise<string | undefined> {
    const tool = this.#toolOf(approval);
    const { kind } = approval;
    if (tool === undefined || (kind !== "tool_call" && kind !== "client_tool" && kind !== "unknown_outcome"))
      return undefined;
    return decisionProblem(tool, kind, decision);
  }

  #toolOf({ tool, requester }: Approval): Tool | undefined {
    return this.#agents.get(requester)?.tools.find(({ name }) => name === tool);
  }
}

/** The parts of an agent that an engine needs, without the rest of the object. */
function bindingOf({
  definition,
  tools,
  models,
  planningModel,
  team,
  output,
  hookManager,
  pipeline,
  missing,
}: AgentBinding): AgentBinding {
  return { definition, tools, models, planningModel, team, output, hookManager, pipeline, missing };
}
