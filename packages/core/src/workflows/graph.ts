import type { WorkflowDefinition, WorkflowEdge } from "../schema/workflow.ts";

export type Drawn = Pick<WorkflowDefinition, "edges"> & { readonly nodes: Readonly<Record<string, unknown>> };

/** The nodes of a workflow and what leads where. Edges from or to nodes that are not there are left out. */
export interface Graph {
  /** Every node, in the order they are written. */
  readonly ids: readonly string[];
  has(id: string): boolean;
  /** Each node after all that lead to it; nodes in a cycle and behind one are not in it. */
  readonly order: readonly string[];
  /** The edges that lead to a node. */
  predecessors(id: string): readonly WorkflowEdge[];
  /** The edges that lead on from it. */
  successors(id: string): readonly WorkflowEdge[];
  /** Every node from which there is a way to this one; itself too, if it is in a cycle. */
  upstreamOf(id: string): ReadonlySet<string>;
  isUpstream(id: string, of: string): boolean;
}

export function graphOf({ nodes, edges }: Drawn): Graph {
  const ids = Object.keys(nodes);
  const known = new Set(ids);
  const into = new Map<string, WorkflowEdge[]>();
  const outOf = new Map<string, WorkflowEdge[]>();
  for (const edge of edges) {
    if (!known.has(edge.from) || !known.has(edge.to)) continue;
    listIn(into, edge.to).push(edge);
    listIn(outOf, edge.from).push(edge);
  }
  const predecessors = (id: string) => into.get(id) ?? NONE;
  const successors = (id: string) => outOf.get(id) ?? NONE;
  const order = sorted(ids, predecessors, successors);
  const bits = upstreamBits(ids, order, predecessors);
  return {
    ids,
    has: (id) => known.has(id),
    order,
    predecessors,
    successors,
    upstreamOf: (id) => new Set(ids.filter((other) => bits.has(other, id))),
    isUpstream: (id, of) => bits.has(id, of),
  };
}

/** The nodes of a cycle, in order, the last leading to the first; undefined when there is none. */
export function cycleIn(drawn: Drawn): readonly string[] | undefined {
  const graph = graphOf(drawn);
  const sound = new Set(graph.order);
  const start = graph.ids.find((id) => !sound.has(id));
  if (start === undefined) return undefined;
  // Whatever is not in order has a predecessor that is not either, so going back comes round in the end.
  const seen = new Map<string, number>();
  const way: string[] = [];
  for (let id = start; ; ) {
    const before = seen.get(id);
    if (before !== undefined) return fromFirst(way.slice(before).reverse(), graph.ids);
    seen.set(id, way.length);
    way.push(id);
    const previous = graph.predecessors(id).find((edge) => !sound.has(edge.from));
    if (previous === undefined) return undefined;
    id = previous.from;
  }
}

const NONE: readonly WorkflowEdge[] = [];

/** The same way round, beginning with the node that is written first. */
function fromFirst(cycle: readonly string[], ids: readonly string[]): readonly string[] {
  const inside = new Set(cycle);
  const start = cycle.indexOf(ids.find((id) => inside.has(id)) ?? "");
  return [...cycle.slice(start), ...cycle.slice(0, start)];
}

type EdgesOf = (id: string) => readonly WorkflowEdge[];

function sorted(ids: readonly string[], predecessors: EdgesOf, successors: EdgesOf): readonly string[] {
  const open = new Map(ids.map((id) => [id, predecessors(id).length]));
  const order = ids.filter((id) => open.get(id) === 0);
  // It grows while it is gone through.
  for (const id of order)
    for (const { to } of successors(id)) {
      const left = (open.get(to) ?? 0) - 1;
      open.set(to, left);
      if (left === 0) order.push(to);
    }
  return order;
}

const WORD = 32;

/** Who is before whom: a row of bits for each node, so that a thousand nodes take a moment and little room. */
function upstreamBits(ids: readonly string[], order: readonly string[], predecessors: EdgesOf) {
  const numbers = new Map(ids.map((id, i) => [id, i]));
  const width = Math.ceil(ids.length / WORD);
  const rows = new Map<string, Uint32Array>();
  const mark = (row: Uint32Array, id: string) => {
    const number = numbers.get(id) ?? 0;
    const word = Math.floor(number / WORD);
    row[word] = (row[word] ?? 0) | (1 << (number % WORD));
  };
  for (const id of order) {
    const row = new Uint32Array(width);
    for (const { from } of predecessors(id)) {
      const before = rows.get(from);
      for (let i = 0; before !== undefined && i < width; i++) row[i] = (row[i] ?? 0) | (before[i] ?? 0);
      mark(row, from);
    }
    rows.set(id, row);
  }
  /** In and behind a cycle there is no order to do it in. */
  const walkBack = (id: string): Uint32Array => {
    const row = new Uint32Array(width);
    const seen = new Set<string>();
    const open = [id];
    for (const next of open)
      for (const { from } of predecessors(next)) {
        if (seen.has(from)) continue;
        seen.add(from);
        open.push(from);
        mark(row, from);
      }
    return row;
  };
  const rowOf = (id: string): Uint32Array => {
    const known = rows.get(id) ?? walkBack(id);
    rows.set(id, known);
    return known;
  };
  return {
    has(id: string, of: string): boolean {
      const number = numbers.get(id);
      if (number === undefined || !numbers.has(of)) return false;
      return (((rowOf(of)[Math.floor(number / WORD)] ?? 0) >>> (number % WORD)) & 1) === 1;
    },
  };
}

function listIn(lists: Map<string, WorkflowEdge[]>, id: string): WorkflowEdge[] {
  const known = lists.get(id);
  if (known !== undefined) return known;
  const list: WorkflowEdge[] = [];
  lists.set(id, list);
  return list;
}
