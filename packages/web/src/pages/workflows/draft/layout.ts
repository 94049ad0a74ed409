import { Graph, layout } from "@dagrejs/dagre";
import { GAP, HEIGHT, snapped, WIDTH } from "../canvas/geometry.ts";
import { type Definition, type Edge, edgesOf, type Port, type Position, portOf } from "./definition.ts";

const WAYS: readonly Port[] = ["out", "true", "false", "rejected", "failed"];

/** Where each node stands when all are put in order, left to right. */
export function laidOut(definition: Definition): Readonly<Record<string, Position>> {
  const graph = new Graph({ multigraph: false });
  graph.setGraph({ rankdir: "LR", nodesep: GAP.y, ranksep: GAP.x, marginx: 0, marginy: 0 });
  graph.setDefaultEdgeLabel(() => ({}));
  const ids = Object.keys(definition.nodes);
  for (const id of ids) graph.setNode(id, { width: WIDTH, height: HEIGHT });
  // What comes last is put highest: ways out are listed from the top, so that their edges do not cross.
  const rank = (edge: Edge) => WAYS.indexOf(portOf(edge));
  const ways = edgesOf(definition)
    .toReversed()
    .toSorted((a, b) => rank(b) - rank(a));
  for (const { from, to } of ways)
    if (graph.hasNode(from) && graph.hasNode(to) && from !== to) graph.setEdge(from, to);
  layout(graph);
  return Object.fromEntries(
    ids.map((id) => {
      const { x = 0, y = 0 } = graph.node(id);
      return [id, snapped({ x: x - WIDTH / 2, y: y - HEIGHT / 2 })];
    }),
  );
}

/** Where nodes stand: as the definition says, and where it says nothing, as they would be laid out. */
export function placesOf(definition: Definition): Readonly<Record<string, Position>> {
  const entries = Object.entries(definition.nodes);
  const without = entries.filter(([, { position }]) => position === undefined);
  const own = Object.fromEntries(
    entries.flatMap(([id, { position }]) => (position === undefined ? [] : [[id, position] as const])),
  );
  if (without.length === 0) return own;
  const all = laidOut(definition);
  // Some have places and some have not: those without go below, so that none covers another.
  const below = Math.max(0, ...Object.values(own).map(({ y }) => y + HEIGHT + GAP.y));
  const lift = Object.keys(own).length === 0 ? 0 : below;
  return {
    ...own,
    ...Object.fromEntries(
      without.map(([id]) => {
        const { x, y } = all[id] ?? { x: 0, y: 0 };
        return [id, { x, y: y + lift }] as const;
      }),
    ),
  };
}
