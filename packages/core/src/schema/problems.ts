import { preview, short } from "./preview.ts";

/** One thing wrong with a definition: where, what was given, what is allowed (A3). */
export interface ConfigIssue {
  readonly path: string;
  readonly given: string;
  readonly allowed: string;
  readonly message: string;
}

export function formatPath(path: readonly PropertyKey[]): string {
  let text = "";
  for (const key of path) {
    if (typeof key === "number") text += `[${key}]`;
    else text += text === "" ? shownKey(key) : `.${shownKey(key)}`;
  }
  return text || "(root)";
}

function shownKey(key: PropertyKey): string {
  return short(String(key)) || '""';
}

export function issue(path: string, given: unknown, allowed: string): ConfigIssue {
  const shown = preview(given);
  return { path, given: shown, allowed, message: `${path}: ${allowed} expected, ${shown} given` };
}

/** The problem of a key nobody knows, with the nearest known one. */
export function unknownKey(path: string, key: string, known: readonly string[]): ConfigIssue {
  const near = nearest(key, known);
  const hint = near ? `did you mean \`${near}\`? known: ` : "one of ";
  return {
    path,
    given: shownKey(key),
    allowed: `${hint}${known.join(", ")}`,
    message: `${path}: ${UNKNOWN_KEY}${near ? `, did you mean \`${near}\`?` : ""}`,
  };
}

const UNKNOWN_KEY = "unknown key";

export function isUnknownKey({ path, message }: ConfigIssue): boolean {
  return message.startsWith(`${path}: ${UNKNOWN_KEY}`);
}

function nearest(key: string, known: readonly string[]): string | undefined {
  if (short(key) !== key) return undefined; // too long to be a slip
  const flat = key.toLowerCase().replaceAll(/[_-]/g, "");
  return known
    .map((candidate) => ({
      candidate,
      distance: distance(flat, candidate.toLowerCase().replaceAll("_", "")),
    }))
    .filter((entry) => entry.distance <= Math.max(1, Math.floor(flat.length / 4)))
    .sort((a, b) => a.distance - b.distance)[0]?.candidate;
}

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
