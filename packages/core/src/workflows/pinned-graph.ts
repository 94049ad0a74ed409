import type { PinnedGraph, PinnedNode } from "../schema/agent.ts";
import type { Json } from "../schema/json.ts";
import type { WorkflowDefinition, WorkflowNode, WorkflowWork } from "../schema/workflow.ts";
import { referencesIn } from "./template.ts";

/** What the loop has to know of a workflow: which nodes there are, what leads to them, and what each of them reads. */
export function pinnedGraph(workflow: WorkflowDefinition): PinnedGraph {
  const nodes = Object.entries(workflow.nodes).map(([id, node]) => [id, pinnedNode(node)] as const);
  return { nodes: Object.fromEntries(nodes), edges: workflow.edges, reads: readBy(outputOf(workflow)) };
}

/** What a workflow comes to: as it says, or the outputs of the nodes that nothing follows. */
export function outputOf({ nodes, edges, output }: WorkflowDefinition): Json {
  if (output !== null) return output;
  const followed = new Set(edges.filter(({ when }) => when !== "failed").map(({ from }) => from));
  const last = Object.keys(nodes).filter((id) => !followed.has(id));
  return Object.fromEntries(last.map((id) => [id, `{{ nodes.${id}? }}`]));
}

function pinnedNode(node: WorkflowNode): PinnedNode {
  const { kind, retry, timeout_ms } = node;
  const reads = readBy(templatesOf(node));
  return {
    kind,
    ...(retry === undefined ? {} : { retry }),
    ...(timeout_ms === undefined ? {} : { timeout_ms }),
    ...(node.kind === "map"
      ? { concurrency: node.concurrency, on_error: node.on_error, does: node.do.kind }
      : {}),
    ...(reads.length === 0 ? {} : { reads }),
  };
}

/** Everything in a node that may hold a reference. */
function templatesOf(node: WorkflowNode): readonly Json[] {
  switch (node.kind) {
    case "condition":
      return [node.if as Json]; // comparisons with templates on either side, and nothing but JSON
    case "map":
      return [node.over, ...workTemplates(node.do)];
    case "approval":
      return [node.message, node.show];
    case "wait":
      return "seconds" in node.for ? [node.for.seconds] : [];
    default:
      return workTemplates(node);
  }
}

function workTemplates(work: WorkflowWork): readonly Json[] {
  if (work.kind === "agent") return [work.prompt];
  return work.kind === "tool" ? [work.arguments] : [work.input];
}

function readBy(templates: Json): readonly string[] {
  const read = referencesIn(templates).references.flatMap(({ node }) => (node === undefined ? [] : [node]));
  return [...new Set(read)];
}
