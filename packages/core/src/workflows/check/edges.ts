import type { WorkflowEdge, WorkflowNode } from "../../schema/workflow.ts";
import { cycleIn } from "../graph.ts";
import type { Draft } from "./draft.ts";
import type { Issues, Path } from "./issues.ts";

const SHOWN_CYCLE = 12;

/** Checks that every edge leads from a node to another, once, at the right outcome, and never round in a circle. */
export function checkEdges({ nodes, edges }: Draft, issues: Issues): void {
  // First, since only so many problems are told.
  const others = edges.flatMap((edge) => (edge && edge.from !== edge.to ? [edge] : []));
  const cycle = cycleIn({ nodes: Object.fromEntries(nodes), edges: others });
  if (cycle !== undefined) tellCycle(cycle, edges, issues);
  const seen = new Set<string>();
  for (const [i, edge] of edges.entries()) {
    if (edge === undefined) continue;
    const { from, to, when } = edge;
    const isThere = [from, to].every((id) => nodes.has(id));
    for (const side of ["from", "to"] as const)
      if (!nodes.has(edge[side])) issues.stranger(["edges", i, side], "a node", edge[side], nodes.keys());
    if (from === to && isThere) issues.tell(["edges", i], "an edge to another node", `${from} → ${to} given`);
    const key = JSON.stringify([from, to, when]);
    if (seen.has(key)) issues.tell(["edges", i], "each edge once", `${shown(edge)} given again`);
    seen.add(key);
    checkWhen(edge, nodes.get(from), ["edges", i, "when"], issues);
  }
}

/** What a node of this kind has no outcome of. */
function checkWhen(
  { when, from }: WorkflowEdge,
  node: WorkflowNode | undefined,
  path: Path,
  issues: Issues,
): void {
  if (node === undefined || when === "failed") return;
  const after = `after "${from}", which is ${node.kind === "agent" || node.kind === "approval" ? "an" : "a"} ${node.kind}`;
  if (node.kind === "condition") {
    if (when !== "true" && when !== "false")
      issues.refuse(path, `"true", "false" or "failed" ${after}`, when);
  } else if (node.kind === "approval") {
    if (when !== undefined && when !== "rejected")
      issues.refuse(path, `"rejected", "failed" or nothing ${after}`, when);
  } else if (when !== undefined) issues.refuse(path, `"failed" or nothing ${after}`, when);
}

function tellCycle(cycle: readonly string[], edges: Draft["edges"], issues: Issues): void {
  const [first = "", last = ""] = [cycle[0], cycle.at(-1)];
  const back = edges.findIndex((edge) => edge?.from === last && edge.to === first);
  const way = [...cycle, first];
  const shortened =
    way.length > SHOWN_CYCLE
      ? [...way.slice(0, SHOWN_CYCLE - 2), `… (${way.length - SHOWN_CYCLE + 1} more)`, first]
      : way;
  issues.tell(["edges", back], "edges that never lead back", `a cycle given: ${shortened.join(" → ")}`);
}

function shown({ from, to, when }: WorkflowEdge): string {
  return `${from} → ${to}${when === undefined ? "" : ` (${when})`}`;
}
