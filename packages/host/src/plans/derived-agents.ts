import type { AgentBinding, AgentDefinition, JsonObject } from "trackside";
import { compileSchema } from "trackside/engine";
import type { Toolkit } from "../agents/toolkit.ts";
import { JUDGE_INSTRUCTIONS, plannerInstructions } from "./prompts.ts";

/** Who does what a plan needs: the agent itself works on steps, the others are made of it. */
export type PlanRole = "planner" | "judge";

const text = { type: "string" } as const;

/** Every property is required and no other allowed: some providers refuse anything else. */
const STEPS_SCHEMA: JsonObject = closed({
  steps: {
    type: "array",
    items: closed({
      id: text,
      title: text,
      detail: text,
      depends_on: { type: "array", items: text },
      criteria: text,
    }),
  },
});
const VERDICT_SCHEMA: JsonObject = closed({ passed: { type: "boolean" }, reason: text });

/** As many as the planner of a run has (P4). */
const PLANNER_STEPS = 5;
/** One answer, and one more if it did not fit. */
const JUDGE_STEPS = 2;

/**
 * An agent of this process for a role, behind the same rails. Its runs have the agent's name: they are the agent's, and
 * count as such.
 */
export function derivedFromCode(agent: AgentBinding, role: PlanRole): AgentBinding {
  const { definition, tools, models, planningModel, hookManager, pipeline, missing } = agent;
  const isPlanner = role === "planner";
  const made = { ...definition, ...changesFor(definition, role) };
  return {
    definition: made,
    tools: isPlanner ? tools : [],
    models: isPlanner && planningModel !== null ? [planningModel] : models,
    planningModel: null,
    team: [],
    output: compileSchema(schemaOf(role)),
    hookManager,
    pipeline: { pre: [], post: [], stream: pipeline.stream },
    missing: isPlanner ? missing : [],
  };
}

/** The same for an agent made at run time, from its definition as it is stored. */
export function derivedFromStored(toolkit: Toolkit, definition: JsonObject, role: PlanRole): AgentBinding {
  return toolkit.bind({ ...definition, ...changesFor(toolkit.bind(definition).definition, role) });
}

function changesFor(definition: AgentDefinition, role: PlanRole) {
  const { stream, on } = definition.hooks;
  const both = {
    planning_enabled: false,
    output_schema: schemaOf(role),
    handoffs: [],
    allow_parallel_subagents: false,
    allow_self_spawn: false,
    // Pre- and post-hooks belong to turns with people, as for sub-agents (R14).
    hooks: { ...(stream === undefined ? {} : { stream }), ...(on === undefined ? {} : { on }) },
  };
  if (role === "judge")
    return {
      ...both,
      instructions: JUDGE_INSTRUCTIONS,
      max_steps: JUDGE_STEPS,
      tools: [],
      hitl_tools: [],
      mcp_servers: [],
    };
  const { instructions, planning_instructions, planning_model, hitl_tools, max_steps } = definition;
  return {
    ...both,
    instructions: plannerInstructions(instructions, planning_instructions),
    max_steps: Math.min(PLANNER_STEPS, max_steps),
    // The planner neither spawns nor hands over (P4): gates on those tools would name tools it does not have.
    hitl_tools: hitl_tools.filter((name) => !/^(spawn_|handoff_to_)/.test(name)),
    ...(planning_model === null
      ? {}
      : // The window is the planning model's own (P4).
        {
          model: planning_model,
          fallback_models: [],
          context_window_tokens: null,
          budget_awareness: null,
        }),
  };
}

function schemaOf(role: PlanRole): JsonObject {
  return role === "planner" ? STEPS_SCHEMA : VERDICT_SCHEMA;
}

function closed(properties: JsonObject): JsonObject {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}
