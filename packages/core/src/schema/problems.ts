import type * as z from "zod";
import type { Json } from "./json.ts";

/** One thing wrong with a definition: where, what was given, what is allowed (A3). */
export interface ConfigIssue {
  readonly path: string;
  readonly given: string;
  readonly allowed: string;
  readonly message: string;
}

const PREVIEW = 80;

/** A short, safe rendering of anything a user may have passed in. */
export function preview(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "function") return `function ${value.name || "(anonymous)"}`;
  if (typeof value === "bigint" || typeof value === "symbol") return String(value);
  let text: string;
  try {
    text = JSON.stringify(value) ?? String(value);
  } catch {
    text = Object.prototype.toString.call(value);
  }
  return text.length > PREVIEW ? `${text.slice(0, PREVIEW)}…` : text;
}

export function formatPath(path: readonly PropertyKey[]): string {
  let text = "";
  for (const key of path) {
    if (typeof key === "number") text += `[${key}]`;
    else text += text === "" ? String(key) : `.${String(key)}`;
  }
  return text || "(root)";
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
    given: key,
    allowed: `${hint}${known.join(", ")}`,
    message: `${path}: unknown key${near ? `, did you mean \`${near}\`?` : ""}`,
  };
}

/** Turns zod's issues into ours, one for each problem, unknown keys one by one. */
export function issuesOf(
  error: z.ZodError,
  raw: unknown,
  known: (path: readonly PropertyKey[]) => readonly string[],
) {
  return error.issues.flatMap((found) => problemsOf(found, raw, known));
}

function problemsOf(
  found: z.core.$ZodIssue,
  raw: unknown,
  known: (path: readonly PropertyKey[]) => readonly string[],
): ConfigIssue[] {
  if (found.code === "unrecognized_keys") {
    return found.keys.map((key) => unknownKey(formatPath([...found.path, key]), key, known(found.path)));
  }
  const given =
    found.code === "custom" && found.params?.["given"] !== undefined
      ? found.params["given"]
      : at(raw, found.path);
  return [issue(formatPath(found.path), given, allowedBy(found))];
}

function allowedBy(found: z.core.$ZodIssue): string {
  switch (found.code) {
    case "invalid_type":
      return article(found.expected);
    case "invalid_value":
      return found.values.map((value) => preview(value)).join(" or ");
    case "too_small":
      return found.origin === "string" || found.origin === "array"
        ? `at least ${found.minimum} ${found.origin === "string" ? "characters" : "entries"}`
        : `a number ${found.inclusive === false ? "above" : "of at least"} ${found.minimum}`;
    case "too_big":
      return found.origin === "number" || found.origin === "int"
        ? `a number of at most ${found.maximum}`
        : `at most ${found.maximum} ${found.origin === "string" ? "characters" : "entries"}`;
    case "custom":
      return typeof found.params?.["allowed"] === "string" ? found.params["allowed"] : found.message;
    case "invalid_union":
      return "one of the forms in the reference";
    default:
      return found.message;
  }
}

function article(expected: string): string {
  if (expected === "int") return "a whole number";
  return /^[aeiou]/.test(expected) ? `an ${expected}` : `a ${expected}`;
}

function at(raw: unknown, path: readonly PropertyKey[]): unknown {
  let value = raw;
  for (const key of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, Json>)[key]; // own property of an object, checked above
  }
  return value;
}

function nearest(key: string, known: readonly string[]): string | undefined {
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
