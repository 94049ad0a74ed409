import type { RailRow } from "./agent-draft.ts";

/** What a rail without a priority of its own has (R1). */
const USUAL = 50;

type PriorityOf = (use: string) => number | null | undefined;

export function priorityOf({ ref }: RailRow, registered: PriorityOf): number {
  const own = ref["priority"];
  if (typeof own === "number") return own;
  return registered(String(ref["use"])) ?? USUAL;
}

/** Rails in the order they run: by priority, ties as they are listed. Each with its place in the list. */
export function inOrder(
  rails: readonly RailRow[],
  registered: PriorityOf,
): { readonly row: RailRow; readonly at: number; readonly priority: number }[] {
  return rails
    .map((row, at) => ({ row, at, priority: priorityOf(row, registered) }))
    .sort((a, b) => a.priority - b.priority || a.at - b.at);
}

/** One place earlier or later: takes the priority of its neighbour where that differs, and stands beside it in the list. */
export function moved(
  rails: readonly RailRow[],
  id: string,
  by: -1 | 1,
  registered: PriorityOf,
): readonly RailRow[] {
  const order = inOrder(rails, registered);
  const at = order.findIndex(({ row }) => row.id === id);
  const mine = order[at];
  const neighbour = order[at + by];
  if (mine === undefined || neighbour === undefined) return rails;
  const changed =
    mine.priority === neighbour.priority
      ? mine.row
      : { ...mine.row, ref: { ...mine.row.ref, priority: neighbour.priority } };
  const others = rails.filter((row) => row.id !== id);
  const place = others.indexOf(neighbour.row) + (by === 1 ? 1 : 0);
  return others.toSpliced(place, 0, changed);
}
