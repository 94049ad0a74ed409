import { type Definition, edgesOf, PORT_WORDS, PORTS, type Port, portOf, titleOf } from "./definition.ts";
import { Graph } from "./graph.ts";

/** Why these two cannot be connected this way; undefined where they can. */
export function refusal(
  definition: Definition,
  from: string,
  port: Port,
  to: string,
  graph: Graph = new Graph(definition),
): string | undefined {
  const source = definition.nodes[from];
  const target = definition.nodes[to];
  if (source === undefined || target === undefined) return "One of the two nodes is not there any more.";
  if (from === to) return "A node cannot come after itself.";
  if (!PORTS[source.kind].includes(port)) {
    const allowed = PORTS[source.kind].map((one) => PORT_WORDS[one]).join(", ");
    return `A node of kind ${source.kind} has no way out called ${PORT_WORDS[port]}; it has ${allowed}.`;
  }
  if (edgesOf(definition).some((edge) => edge.from === from && edge.to === to && portOf(edge) === port))
    return `${titleOf(from, source)} already leads to ${titleOf(to, target)} this way.`;
  const way = graph.way(to, from);
  if (way !== undefined) {
    const names = way.map((id) => titleOf(id, definition.nodes[id])).join(" → ");
    return `That would go round in a circle: ${names} → ${titleOf(to, target)}. Workflows end; repeat work with a map instead.`;
  }
  return undefined;
}
