import type { WorkflowDefinition, WorkflowNodeOf, WorkflowWork } from "../schema/workflow.ts";

/** A map works on so many items in one run; more of them are put into runs of their own, so that none becomes too long. */
export const CHUNK = 100;

/** The workflow that does a part of a map: the same work, with what each item comes to worked out already. */
export function chunkOf(workflow: WorkflowDefinition, id: string): WorkflowDefinition {
  const node = workflow.nodes[id];
  if (node?.kind !== "map") throw new Error(`the node "${id}" is no map`);
  const { concurrency, on_error } = node;
  const part: WorkflowNodeOf<"map"> = {
    kind: "map",
    over: "{{ input.items }}",
    do: asGiven(node.do),
    concurrency,
    on_error,
  };
  return {
    ...workflow,
    input: null,
    nodes: { [id]: part },
    edges: [],
    output: `{{ nodes.${id} }}`,
    output_schema: null,
  };
}

function asGiven(work: WorkflowWork): WorkflowWork {
  const item = "{{ item }}";
  if (work.kind === "agent") return { ...work, prompt: item };
  // The whole of it is filled in: an object when it runs.
  const given = item as unknown as Record<string, never>;
  return work.kind === "tool" ? { ...work, arguments: given } : { ...work, input: given };
}
