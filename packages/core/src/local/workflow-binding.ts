import type { AgentDefinition } from "../schema/agent.ts";
import type { JsonObject } from "../schema/json.ts";
import type { WorkflowDefinition, WorkflowNode, WorkflowWork } from "../schema/workflow.ts";
import { compileSchema } from "../tools/compile-schema.ts";
import type { AgentBinding } from "./bound-agent.ts";
import { workflowKey } from "./team.ts";

/** A workflow calls no model by itself. */
const NO_MODEL = "openai:none";

/**
 * The agent that stands for a workflow, as JSON: its tools, rails and gates. Whoever binds agents binds it, so that calls of
 * a workflow go through what any call goes through (R14).
 */
export function workflowShell(workflow: WorkflowDefinition): JsonObject {
  const tools = namesIn(workflow).tools;
  return {
    name: workflow.name,
    model: NO_MODEL,
    tools: [...tools],
    rails: workflow.rails as JsonObject["rails"] & {}, // references: JSON
    hitl_tools: workflow.hitl_tools.filter((name) => tools.has(name)),
    hitl_timeout_seconds: workflow.hitl_timeout_seconds,
    // What nodes read of each other is read whole.
    offload_above_bytes: Number.MAX_SAFE_INTEGER,
  };
}

/** A workflow as an engine runs it: its shell, bound, with its graph and those who work at its nodes. */
export function bindWorkflow(
  shell: AgentBinding,
  workflow: WorkflowDefinition,
  team: readonly AgentBinding[],
): AgentBinding {
  const { tools, hookManager, pipeline, missing } = shell;
  const output = compileSchema(workflow.output_schema ?? {});
  const definition: AgentDefinition = Object.freeze({
    ...shell.definition,
    hitl_tools: workflow.hitl_tools,
    handoffs: [...namesIn(workflow).workers],
    output_schema: output.jsonSchema,
    workflow,
  });
  return { definition, tools, models: [], planningModel: null, team, output, hookManager, pipeline, missing };
}

/** Whom and what a workflow names: tools of its own nodes, and who works at the others, as a team knows them. */
export function namesIn({ nodes }: WorkflowDefinition): {
  readonly tools: ReadonlySet<string>;
  readonly workers: ReadonlySet<string>;
} {
  const tools = new Set<string>();
  const workers = new Set<string>();
  for (const node of Object.values(nodes)) {
    const work = workOf(node);
    if (work?.kind === "tool") tools.add(work.tool);
    if (work?.kind === "agent") workers.add(work.agent);
    if (work?.kind === "workflow") workers.add(workflowKey(work.workflow));
  }
  return { tools, workers };
}

function workOf(node: WorkflowNode): WorkflowWork | undefined {
  if (node.kind === "map") return node.do;
  return node.kind === "agent" || node.kind === "tool" || node.kind === "workflow" ? node : undefined;
}

/** Whether somebody has to be there to decide, whatever its agents do (L6). */
export function asksSomebody({ nodes }: WorkflowDefinition): boolean {
  return Object.values(nodes).some(
    (node) => node.kind === "approval" || (node.kind === "wait" && "webhook" in node.for),
  );
}
