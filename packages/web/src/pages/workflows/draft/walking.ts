import { type Definition, edgesOf, type Position } from "./definition.ts";

export type Direction = "left" | "right" | "up" | "down";

/** Where the selection goes from a node: along edges to the left and right, to the next one above or below otherwise. */
export function neighbour(
  definition: Definition,
  places: Readonly<Record<string, Position>>,
  from: string | undefined,
  direction: Direction,
): string | undefined {
  const ids = Object.keys(definition.nodes);
  const here = from === undefined ? undefined : places[from];
  if (from === undefined || here === undefined) return first(ids, places);
  const edges = edgesOf(definition);
  switch (direction) {
    case "right":
      return nearest(
        edges.filter((edge) => edge.from === from).map(({ to }) => to),
        places,
        here,
      );
    case "left":
      return nearest(
        edges.filter((edge) => edge.to === from).map((edge) => edge.from),
        places,
        here,
      );
    case "up":
    case "down": {
      const sign = direction === "up" ? -1 : 1;
      const there = ids.filter((id) => id !== from && sign * ((places[id]?.y ?? 0) - here.y) > 0);
      return nearest(there, places, here, 3); // sideways counts more: the column is kept where there is one
    }
  }
}

/** The one to begin with: at the left, and of those at the top. */
function first(ids: readonly string[], places: Readonly<Record<string, Position>>): string | undefined {
  const at = (id: string) => places[id] ?? { x: 0, y: 0 };
  return ids.toSorted((a, b) => at(a).x - at(b).x || at(a).y - at(b).y)[0];
}

function nearest(
  ids: readonly string[],
  places: Readonly<Record<string, Position>>,
  { x, y }: Position,
  sideways = 1,
): string | undefined {
  const distance = (id: string) => {
    const at = places[id] ?? { x, y };
    return sideways * Math.abs(at.x - x) + Math.abs(at.y - y);
  };
  return ids.toSorted((a, b) => distance(a) - distance(b))[0];
}
