import type { Json, JsonObject } from "../schema/json.ts";
import type { WorkflowDefinition, WorkflowNode, WorkflowWork } from "../schema/workflow.ts";
import type { Catalog } from "./check/catalog.ts";
import { outputOf as outputTemplate } from "./pinned-graph.ts";

/** What something comes to: what fits a JSON Schema, a text, nothing at all, or who knows. */
export type NodeOutput = JsonObject | "text" | "nothing" | "any";

/** What the output of a node looks like, as far as that can be told before it runs. */
export function outputOf(node: WorkflowNode, catalog: Catalog): NodeOutput {
  switch (node.kind) {
    case "condition":
      return { type: "boolean" };
    case "map":
      return { type: "array", items: entryOf(schemaOf(workOutput(node.do, catalog)), node.on_error) };
    case "approval":
      return node.response ?? DECIDED;
    case "wait":
      return "seconds" in node.for ? "nothing" : (node.for.webhook.response ?? "any");
    default:
      return workOutput(node, catalog);
  }
}

/** The same as a JSON Schema, where anything fits what nobody knows. */
export function schemaOf(output: NodeOutput): JsonObject {
  if (output === "text") return { type: "string" };
  if (output === "nothing") return { type: "null" };
  return output === "any" ? {} : output;
}

/** Who said yes, and why, where nothing else was asked. */
const DECIDED: JsonObject = {
  type: "object",
  properties: { decided_by: { type: "string" }, reason: { type: "string" } },
  additionalProperties: true,
};

function entryOf(output: JsonObject, onError: "fail" | "collect"): JsonObject {
  if (onError === "fail") return output;
  const failure = { type: "object", properties: { code: { type: "string" }, message: { type: "string" } } };
  return {
    type: "object",
    properties: { status: { enum: ["completed", "failed"] }, output, failure },
    required: ["status"],
  };
}

function workOutput(work: WorkflowWork, { agents, tools, workflows }: Catalog): NodeOutput {
  switch (work.kind) {
    case "agent": {
      const agent = agents?.get(work.agent);
      return agent === undefined ? "any" : (agent.output ?? "text");
    }
    case "tool":
      return tools?.get(work.tool)?.output ?? "any";
    case "workflow": {
      const workflow = workflows?.get(work.workflow);
      return workflow === undefined ? "any" : (workflow.output_schema ?? shapeOf(workflow));
    }
  }
}

/** Without a schema, the keys of what it comes to are known at least. */
function shapeOf(workflow: WorkflowDefinition): NodeOutput {
  const template = outputTemplate(workflow);
  if (typeof template !== "object" || template === null || Array.isArray(template)) return "any";
  const properties: [string, Json][] = Object.keys(template).map((key) => [key, {}]);
  return { type: "object", properties: Object.fromEntries(properties), additionalProperties: false };
}
