/**
 * Whether two values of a request are written as the same bytes: plain JSON with URLs in it, and keys in the same order.
 * Most are the same object, and texts in copies are the same string, so that a look is enough.
 */
export function sameBytes(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a)) return Array.isArray(b) && sameItems(a, b);
  if (Array.isArray(b)) return false;
  if (a instanceof URL || b instanceof URL) return a instanceof URL && b instanceof URL && a.href === b.href;
  return sameFields(a as Record<string, unknown>, b as Record<string, unknown>); // what is left is plain
}

function sameItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (!sameBytes(a[i], b[i])) return false;
  return true;
}

function sameFields(a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  const keys = Object.keys(a);
  const others = Object.keys(b);
  if (keys.length !== others.length) return false;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string; // within its length
    if (key !== others[i] || !sameBytes(a[key], b[key])) return false;
  }
  return true;
}
