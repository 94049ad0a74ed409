import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { WorkflowEdge } from "../schema/workflow.ts";
import { cycleIn, type Drawn, graphOf } from "./graph.ts";

/** "a>b b>c" as a graph; a name alone is a node. */
function drawn(text: string): Drawn {
  const parts = text.split(" ").map((part) => part.split(">"));
  const nodes = Object.fromEntries(parts.flat().map((id) => [id, {}]));
  const edges = parts.flatMap(([from, to]) => (from && to ? [{ from, to }] : []));
  return { nodes, edges };
}

describe("W4 a workflow as a graph", () => {
  const graph = graphOf(drawn("a>b a>c b>d c>d e"));

  test("W4 tells what leads to a node and what follows it", () => {
    expect(graph.predecessors("d").map((edge) => edge.from)).toEqual(["b", "c"]);
    expect(graph.successors("a").map((edge) => edge.to)).toEqual(["b", "c"]);
    expect(graph.predecessors("a")).toEqual([]);
    expect(graph.successors("nobody")).toEqual([]);
  });

  test("W4 puts each node after all that lead to it", () => {
    expect(graph.order).toEqual(["a", "e", "b", "c", "d"]);
  });

  test("W4 knows every node before another", () => {
    expect([...graph.upstreamOf("d")].sort()).toEqual(["a", "b", "c"]);
    expect([...graph.upstreamOf("e")]).toEqual([]);
    expect(graph.isUpstream("a", "d")).toBe(true);
    expect(graph.isUpstream("d", "a")).toBe(false);
    expect(graph.isUpstream("d", "d")).toBe(false);
    expect(graph.isUpstream("nobody", "d")).toBe(false);
    expect(graph.isUpstream("a", "nobody")).toBe(false);
  });

  test("W4 leaves out edges of nodes that are not there, and takes names of prototypes as names", () => {
    const edges: WorkflowEdge[] = [
      { from: "constructor", to: "toString" },
      { from: "constructor", to: "valueOf" },
    ];
    const odd = graphOf({ nodes: { constructor: {}, toString: {} }, edges });
    expect(odd.order).toEqual(["constructor", "toString"]);
    expect(odd.successors("constructor")).toHaveLength(1);
  });
});

describe("W4 a cycle is found and told in order", () => {
  test.each<[string, readonly string[] | undefined]>([
    ["a", undefined],
    ["a>b b>c a>c", undefined],
    ["a>a", ["a"]],
    ["a>b b>a", ["a", "b"]],
    ["start>c c>a a>b b>c b>end", ["c", "a", "b"]],
    ["a>b b>c c>b c>d d>e", ["b", "c"]],
  ])("%s", (text, cycle) => {
    expect(cycleIn(drawn(text))).toEqual(cycle);
  });

  test("W4 what is in a cycle is before itself, and before what is behind it", () => {
    const graph = graphOf(drawn("a>b b>c c>b c>d"));
    expect(graph.order).toEqual(["a"]);
    expect(graph.isUpstream("b", "b")).toBe(true);
    expect([...graph.upstreamOf("d")].sort()).toEqual(["a", "b", "c"]);
  });
});

/** Edges that lead only from earlier to later nodes, of nodes in any order. */
const acyclic = fc
  .record({
    ids: fc.shuffledSubarray(
      Array.from({ length: 40 }, (_, i) => `n${i}`),
      { minLength: 2 },
    ),
    pairs: fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 80 }),
  })
  .map(({ ids, pairs }) => {
    const edges = pairs.flatMap(([a, b]) => {
      const [from, to] = [
        ids[Math.min(a % ids.length, b % ids.length)],
        ids[Math.max(a % ids.length, b % ids.length)],
      ];
      return from === undefined || to === undefined || from === to ? [] : [{ from, to }];
    });
    return { nodes: Object.fromEntries(ids.toSorted().map((id) => [id, {}])), edges };
  });

test("W4 any graph without a cycle: the order holds every node once and respects every edge", () => {
  fc.assert(
    fc.property(acyclic, (graph) => {
      const { order, ids } = graphOf(graph);
      expect(cycleIn(graph)).toBeUndefined();
      expect(order.toSorted()).toEqual(ids.toSorted());
      for (const { from, to } of graph.edges) expect(order.indexOf(from)).toBeLessThan(order.indexOf(to));
    }),
  );
});

test("W4 any graph without a cycle: who is upstream is who has a way there", () => {
  fc.assert(
    fc.property(acyclic, (graph) => {
      const { ids, upstreamOf, isUpstream } = graphOf(graph);
      for (const id of ids) {
        const reached = new Set<string>();
        const open = [id];
        for (const at of open)
          for (const { from } of graph.edges.filter((edge) => edge.to === at))
            if (!reached.has(from)) {
              reached.add(from);
              open.push(from);
            }
        expect([...upstreamOf(id)].toSorted()).toEqual([...reached].toSorted());
        expect(ids.filter((other) => isUpstream(other, id))).toEqual([...upstreamOf(id)]);
      }
    }),
    { numRuns: 30 },
  );
});

test("W4 any graph and one edge back: the cycle is found, and is one", () => {
  fc.assert(
    fc.property(acyclic, fc.nat(), (graph, pick) => {
      const back = graph.edges[pick % Math.max(1, graph.edges.length)];
      if (back === undefined) return;
      const edges = [...graph.edges, { from: back.to, to: back.from }];
      const cycle = cycleIn({ ...graph, edges }) ?? [];
      expect(cycle.length).toBeGreaterThan(1);
      expect(new Set(cycle).size).toBe(cycle.length);
      cycle.forEach((from, i) => {
        const to = cycle[(i + 1) % cycle.length];
        expect(edges).toContainEqual({ from, to });
      });
    }),
  );
});

test("W4 the largest graphs, in a line, in a circle and all across", () => {
  const ids = Array.from({ length: 1_000 }, (_, i) => `n${i}`);
  const nodes = Object.fromEntries(ids.map((id) => [id, {}]));
  const line = ids.slice(1).map((to, i) => ({ from: `n${i}`, to }));
  expect(graphOf({ nodes, edges: line }).upstreamOf("n999").size).toBe(999);
  const round = [...line.toReversed(), { from: "n999", to: "n0" }];
  expect(cycleIn({ nodes, edges: round })).toEqual(ids);
  const circle = graphOf({ nodes, edges: round });
  expect(ids.slice(0, 50).every((id) => circle.isUpstream(id, id))).toBe(true);
  const across = Array.from({ length: 5_000 }, (_, i) => ({
    from: `n${i % 500}`,
    to: `n${500 + ((i * 7) % 500)}`,
  }));
  expect(graphOf({ nodes, edges: across }).order).toHaveLength(1_000);
});
