import { type HookRow, newRowId } from "./agent-draft.ts";

/** Adds a hook behind the others of its place. */
export function withPlace(rows: readonly HookRow[], row: HookRow): readonly HookRow[] {
  const at = rows.findLastIndex(({ place }) => place === row.place);
  return at < 0 ? [...rows, row] : rows.toSpliced(at + 1, 0, row);
}

/** Lets a hook run side by side with the one before it, or after it again. */
export function withPrevious(rows: readonly HookRow[], id: string, together: boolean): readonly HookRow[] {
  const row = rows.find((one) => one.id === id);
  const same = rows.filter(({ place }) => place === row?.place);
  const before = same[same.findIndex((one) => one.id === id) - 1];
  if (row === undefined || before === undefined) return rows;
  if (together) {
    const group = before.group ?? newRowId();
    return rows.map((one) => (one.id === id || one.id === before.id ? { ...one, group } : one));
  }
  // Whoever of the group came behind it goes with it.
  const from = rows.indexOf(row);
  const group = newRowId();
  const split = rows.map((one, at) => (at >= from && one.group === row.group ? { ...one, group } : one));
  return alone(split);
}

/** One place earlier or later among those of its place. In between two of a group it joins them. */
export function movedHook(rows: readonly HookRow[], id: string, by: -1 | 1): readonly HookRow[] {
  const row = rows.find((one) => one.id === id);
  if (row === undefined) return rows;
  const same = rows.filter(({ place }) => place === row.place);
  const neighbour = same[same.indexOf(row) + by];
  if (neighbour === undefined) return rows;
  const others = rows.filter((one) => one.id !== id);
  const place = others.indexOf(neighbour) + (by === 1 ? 1 : 0);
  const [above, below] = [others[place - 1], others[place]];
  const inside = above?.group != null && above.group === below?.group && above.place === row.place;
  const isStill = row.group !== null && (above?.group === row.group || below?.group === row.group);
  const group = inside ? above.group : isStill ? row.group : null;
  return alone(others.toSpliced(place, 0, { ...row, group }));
}

/** A group of one is none. */
function alone(rows: readonly HookRow[]): readonly HookRow[] {
  const sizes = new Map<string, number>();
  for (const { group } of rows) if (group !== null) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  return rows.map((row) =>
    row.group !== null && sizes.get(row.group) === 1 ? { ...row, group: null } : row,
  );
}
