/** A page of a list: where it is full there may be more, after its last item. */
export function pageOf<T>(items: readonly T[], limit: number, cursorOf: (item: T) => string) {
  const last = items.at(-1);
  const next = items.length >= limit && last !== undefined ? cursorOf(last) : null;
  return { items: [...items], next };
}

/** A list that is always told whole. */
export function whole<T>(items: readonly T[]) {
  return { items: [...items], next: null };
}
