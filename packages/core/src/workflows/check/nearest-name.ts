const LONGEST = 64;

/** How many letters may be compared in all: there may be many slips, and many names for each. */
export interface Effort {
  left: number;
}

/** The name that one was most likely meant to be, if any comes near. */
export function nearestName(name: string, known: readonly string[], effort: Effort): string | undefined {
  if (name.length > LONGEST) return undefined; // too long to be a slip
  const flat = flattened(name);
  // Of a name of one letter nothing would be left.
  const most = flat.length < 2 ? 0 : Math.max(1, Math.floor(flat.length / 4));
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) > most + 2) continue;
    effort.left -= name.length * candidate.length;
    if (effort.left < 0) return undefined;
    const far = distance(flat, flattened(candidate));
    if (far <= most && (best === undefined || far < best.distance)) best = { name: candidate, distance: far };
  }
  return best?.name;
}

function flattened(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, "");
}

/** How many letters have to be changed, added or taken away, or change places with the next. */
function distance(a: string, b: string): number {
  let before: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isTurned = j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const turned = isTurned ? (before[j - 2] ?? 0) + 1 : swap;
      next.push(Math.min(swap, turned, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    [before, row] = [row, next];
  }
  return row[b.length] ?? a.length;
}
