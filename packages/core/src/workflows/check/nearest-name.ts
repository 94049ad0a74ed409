const LONGEST = 64;
const MOST_NAMES = 2_000;

/** The name that one was most likely meant to be, if any comes near. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > LONGEST) return undefined; // too long to be a slip
  const flat = flattened(name);
  const most = Math.max(1, Math.floor(flat.length / 4));
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const candidate of known.slice(0, MOST_NAMES)) {
    if (Math.abs(candidate.length - name.length) > most + 2) continue;
    const far = distance(flat, flattened(candidate));
    if (far <= most && (best === undefined || far < best.distance)) best = { name: candidate, distance: far };
  }
  return best?.name;
}

function flattened(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, "");
}

/** How many letters have to be changed, added or taken away. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? a.length;
}
