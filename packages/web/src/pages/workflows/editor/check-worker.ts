/** Checks workflows beside the page, so that three hundred nodes cost no frame: the same check as the server's (W4). */
import {
  checkWorkflow,
  type JsonObject,
  type Catalog as KnownNames,
  outputOf,
  type WorkflowDefinition,
  type WorkflowNode,
} from "trackside/schema";
import type { Catalog } from "./catalog.ts";
import type { CheckAnswer, CheckRequest } from "./check.ts";

let known: KnownNames = { agents: null, tools: null, workflows: null, rails: null };

// A worker's own global, which the types of a page do not know.
const worker = globalThis as unknown as {
  onmessage(event: MessageEvent<CheckRequest>): void;
  postMessage(answer: CheckAnswer): void;
};

worker.onmessage = ({ data: { id, catalog, definition } }) => {
  if (catalog !== undefined) known = knownIn(catalog);
  const from = performance.now();
  const checked = checkWorkflow(definition, known);
  const issues = checked.ok ? [] : checked.issues.map(({ path, message }) => ({ path, message }));
  const ms = performance.now() - from;
  worker.postMessage({ id, issues, outputs: outputsOf(definition.nodes as Record<string, unknown>), ms });
};

function knownIn({ agents, tools, workflows, rails }: Catalog): KnownNames {
  return {
    agents: new Map(agents.map(({ name, output_schema }) => [name, { output: asSchema(output_schema) }])),
    tools: new Map(
      tools.map(({ name, input_schema, output_schema }) => [
        name,
        { input: asSchema(input_schema) ?? {}, output: asSchema(output_schema) },
      ]),
    ),
    workflows: new Map(workflows.map((workflow) => [workflow.name, standIn(workflow)])),
    rails: new Set(rails.map(({ name }) => name)),
  };
}

/** What is inside another workflow is the server's to check; here it counts what it takes and what it gives. */
function standIn({
  name,
  description,
  input,
  output_schema,
}: Catalog["workflows"][number]): WorkflowDefinition {
  return {
    name,
    description,
    input: asSchema(input),
    nodes: {},
    edges: [],
    output: null,
    output_schema: asSchema(output_schema) ?? {},
    rails: [],
    hitl_tools: [],
    hitl_timeout_seconds: null,
  };
}

const asSchema = (schema: Record<string, unknown> | null) => schema as JsonObject | null; // the API sends JSON

/** What nodes come to, for those who write templates; of half a node as much as can be told. */
function outputsOf(nodes: Record<string, unknown>): Record<string, JsonObject> {
  const outputs: Record<string, JsonObject> = {};
  for (const [id, node] of Object.entries(nodes)) {
    try {
      const output = outputOf({ on_error: "fail", ...(node as WorkflowNode) } as WorkflowNode, known); // a draft lacks what the schema fills in
      if (output === "text") outputs[id] = { type: "string" };
      else if (typeof output === "object") outputs[id] = output;
    } catch {
      // Too little of it is there to tell.
    }
  }
  return outputs;
}
