/**
 * Whether two values of a request are written as the same bytes: plain JSON with URLs in it, and keys in the same order.
 * Most are the same object, and texts in copies are the same string, so that a look is enough.
 */
export function sameBytes(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (a instanceof URL || b instanceof URL) return a instanceof URL && b instanceof URL && a.href === b.href;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((one, i) => sameBytes(one, b[i]));
  }
  const left = Object.entries(a);
  const right = Object.entries(b);
  if (left.length !== right.length) return false;
  return left.every(([key, value], i) => {
    const [other, its] = right[i] ?? [];
    return key === other && sameBytes(value, its);
  });
}
