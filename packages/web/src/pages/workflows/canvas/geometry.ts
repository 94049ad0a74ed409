import type { Kind, Port, Position } from "../draft/definition.ts";
import { PORTS } from "../draft/definition.ts";

/** Every node has the same size, so that nothing has to be measured: three hundred of them are drawn at once. */
export const WIDTH = 208;
export const HEIGHT = 76;
/** What moved nodes snap to, and how far apart they are laid out. */
export const GRID = 8;
export const GAP = { x: 64, y: 32 } as const;

/** How all of it is brought into sight: never larger than it is. */
export const FIT = { padding: "24px", maxZoom: 1 } as const;

/** Where a way out leaves the node. `failed` is at the bottom, out of the way of what usually happens. */
export function placeOfPort(kind: Kind, port: Port): Position {
  if (port === "failed") return { x: WIDTH - 32, y: HEIGHT };
  const side = PORTS[kind].filter((one) => one !== "failed");
  return { x: WIDTH, y: ((side.indexOf(port) + 1) * HEIGHT) / (side.length + 1) };
}

export const PLACE_OF_ENTRY: Position = { x: 0, y: HEIGHT / 2 };

/** A place near the wanted one that no node covers. */
export function freePlace(taken: readonly Position[], wanted: Position): Position {
  const covers = ({ x, y }: Position, at: Position) =>
    Math.abs(x - at.x) < WIDTH + GRID && Math.abs(y - at.y) < HEIGHT + GRID;
  let at = snapped(wanted);
  for (let tries = 0; tries < taken.length + 1 && taken.some((one) => covers(one, at)); tries += 1)
    at = { x: at.x, y: at.y + HEIGHT + GAP.y };
  return at;
}

export function snapped({ x, y }: Position): Position {
  return { x: Math.round(x / GRID) * GRID, y: Math.round(y / GRID) * GRID };
}
