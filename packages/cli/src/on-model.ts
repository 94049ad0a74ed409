import { type Agent, type AgentBinding, type Engine, localEngine } from "trackside";

/**
 * An engine that runs one agent on another model. Tools, hooks and output stay the agent's own; its fallback models do not
 * count, because nothing may stand in for a model that was named.
 */
export function onModel(agent: Agent, model: string): Engine {
  const engine = localEngine();
  const binding: AgentBinding = {
    definition: Object.freeze({ ...agent.definition, model, fallback_models: [] }),
    tools: agent.tools,
    models: [model],
    planningModel: agent.planningModel,
    team: agent.team,
    output: agent.output,
    hookManager: agent.hookManager,
    pipeline: agent.pipeline,
    missing: agent.missing,
  };
  return { start: (_, input, options, sink) => engine.start(binding, input, options, sink) };
}
