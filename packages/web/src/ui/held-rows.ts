import { useCallback, useEffect, useRef, useState } from "react";

/**
 * What a list may show of live rows without moving under the pointer: rows that are shown change in place, new ones wait,
 * and one that is gone stays as it was (`kept`) while `hold` is true, that is, while the pointer is in the list.
 */
export function heldRows<T>(
  shown: readonly string[],
  live: ReadonlyMap<string, T>,
  kept: ReadonlyMap<string, T>,
  hold: boolean,
): { rows: Map<string, T>; waiting: number } {
  const rows = new Map<string, T>();
  for (const key of shown) {
    const row = live.get(key) ?? (hold ? kept.get(key) : undefined);
    if (row !== undefined) rows.set(key, row);
  }
  return { rows, waiting: [...live.keys()].filter((key) => !rows.has(key)).length };
}

/**
 * `heldRows` for a component: spread `list` onto the element around the rows. `resetKey` is what the rows answer, like the
 * filter: another question is answered at once.
 */
export function useHeldRows<T>(live: readonly T[] | undefined, key: (row: T) => string, resetKey: string) {
  const [state, setState] = useState<{ resetKey: string; keys: readonly string[] }>({ resetKey, keys: [] });
  const [hold, setHold] = useState(false);
  const kept = useRef<ReadonlyMap<string, T>>(new Map());
  const now = new Map((live ?? []).map((row) => [key(row), row]));
  const asked = state.resetKey === resetKey ? state.keys : [];
  const held = heldRows(asked, now, kept.current, hold);
  // An empty list has nothing under the pointer that could move.
  const rows = held.rows.size === 0 ? now : held.rows;
  const keys = [...rows.keys()];
  const settled = state.resetKey === resetKey && keys.join("\n") === state.keys.join("\n");
  if (live !== undefined && !settled) setState({ resetKey, keys });
  useEffect(() => {
    kept.current = rows;
  });
  const all = [...now.keys()].join("\n");
  const showNew = useCallback(() => setState({ resetKey, keys: all.split("\n") }), [resetKey, all]);
  return {
    rows: [...rows.values()],
    waiting: held.rows.size === 0 ? 0 : held.waiting,
    showNew,
    list: { onPointerEnter: () => setHold(true), onPointerLeave: () => setHold(false) },
  };
}
