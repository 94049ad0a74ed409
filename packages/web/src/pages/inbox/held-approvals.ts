import { type Approval, isOpen } from "./approval.ts";

export interface Held {
  /** What the list shows, in its order: nothing moves, decided ones say so in place. */
  rows: Approval[];
  /** New ones that wait to be asked for. */
  waiting: string[];
}

/**
 * What the list may show. `live` is what waits now, oldest first; `changed` is what the stream told of since, decided ones
 * among it; `before` is what the list showed last. A decided one stays while `keeps` says so: the pointer is in the list,
 * or it is open beside it.
 */
export function heldApprovals(
  shown: readonly string[],
  live: readonly Approval[],
  changed: ReadonlyMap<string, Approval>,
  before: ReadonlyMap<string, Approval>,
  keeps: (id: string) => boolean,
): Held {
  const pending = new Map(live.map((row) => [row.id, row]));
  // The stream is ahead of the list it makes us load.
  const decided = (id: string) => {
    const row = changed.get(id);
    return row !== undefined && !isOpen(row) ? row : undefined;
  };
  const open = live.filter(({ id }) => decided(id) === undefined);
  const rows = shown.flatMap((id) => {
    const closed = decided(id);
    const row = closed === undefined ? pending.get(id) : undefined;
    if (row !== undefined) return [row];
    const last = closed ?? before.get(id);
    return last !== undefined && keeps(id) ? [last] : [];
  });
  const there = new Set(rows.map(({ id }) => id));
  // With nothing in the list there is nothing that could move.
  if (rows.length === 0) return { rows: open, waiting: [] };
  return { rows, waiting: open.filter(({ id }) => !there.has(id)).map(({ id }) => id) };
}

/** Where J and K go from the one that is open. */
export function neighbour(
  rows: readonly Pick<Approval, "id">[],
  selected: string | undefined,
  by: 1 | -1,
): string | undefined {
  const at = rows.findIndex(({ id }) => id === selected);
  if (at === -1) return (by === 1 ? rows[0] : rows.at(-1))?.id;
  return rows[at + by]?.id;
}

/** What to go on with after a decision: the next that is open, else the first that is. */
export function nextOpen(rows: readonly Approval[], selected: string): Approval | undefined {
  const at = rows.findIndex(({ id }) => id === selected);
  const open = (row: Approval) => isOpen(row) && row.id !== selected;
  return rows.slice(at + 1).find(open) ?? rows.find(open);
}
