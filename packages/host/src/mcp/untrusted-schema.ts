import type { JsonObject } from "trackside";
import { asJsonObject, isObject, problemOfJson } from "./untrusted-json.ts";

const LIMITS = { depth: 64, nodes: 20_000, chars: 256_000 };
const MAX_PATTERN = 1_000;

export type ReadSchema =
  | { readonly ok: true; readonly schema: JsonObject }
  | { readonly ok: false; readonly problem: string };

/**
 * A JSON Schema of a server, fit to be compiled and run here: bounded, without references that lead outside or
 * nowhere, and without patterns that could keep us busy for ever. Those are left out; the server checks them itself.
 */
export function readSchema(raw: unknown): ReadSchema {
  if (!isObject(raw)) return { ok: false, problem: "is not an object" };
  const problem = problemOfJson(raw, LIMITS);
  if (problem !== null) return { ok: false, problem };
  try {
    return { ok: true, schema: asJsonObject(calm(raw, raw)) };
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : String(error) };
  }
}

/** Keywords whose value is a schema for each key: their own keys are names, not keywords. */
const NAMED = ["properties", "$defs", "definitions", "dependentSchemas", "patternProperties"];
/** Keywords whose value is no schema, whatever is in it. */
const PLAIN = ["const", "enum", "default", "examples", "required"];

function calm(schema: Record<string, unknown>, root: Record<string, unknown>): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (PLAIN.includes(key)) copy[key] = value;
    else if (key === "$ref" || key === "$dynamicRef" || key === "$recursiveRef")
      copy[key] = checkedReference(key, value, root);
    else if (key === "pattern") {
      if (typeof value !== "string") throw new Error("has a `pattern` that is not a string");
      if (isCalm(value)) copy[key] = value;
    } else if (NAMED.includes(key)) copy[key] = named(key, value, root);
    else copy[key] = inner(value, root);
  }
  return copy;
}

function inner(value: unknown, root: Record<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((one) => inner(one, root));
  return isObject(value) ? calm(value, root) : value;
}

function named(key: string, value: unknown, root: Record<string, unknown>): unknown {
  if (!isObject(value)) throw new Error(`has \`${key}\` that is not an object`);
  const entries = Object.entries(value).map(([name, schema]) => {
    if (key === "patternProperties" && !isCalm(name))
      throw new Error("has a pattern in `patternProperties` that may take for ever");
    return [name, inner(schema, root)] as const;
  });
  return Object.fromEntries(entries);
}

function checkedReference(key: string, value: unknown, root: Record<string, unknown>): string {
  if (typeof value !== "string") throw new Error(`has a \`${key}\` that is not a string`);
  if (!value.startsWith("#")) throw new Error(`has a \`${key}\` to something outside of it`);
  if (value.startsWith("#/")) {
    let at: unknown = root;
    for (const step of value.slice(2).split("/")) {
      const name = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
      const holds = typeof at === "object" && at !== null && Object.hasOwn(at, name);
      // What is own of an object or array that came from JSON can be read by its name.
      at = holds ? (at as Record<string, unknown>)[name] : undefined;
    }
    if (at === undefined) throw new Error(`has a \`${key}\` to something it does not have`);
  }
  return value;
}

/**
 * Whether a pattern is sure to end soon: short, valid, and without a repeated group that itself repeats or chooses,
 * which is what makes a matcher try everything.
 */
export function isCalm(pattern: string): boolean {
  if (pattern.length > MAX_PATTERN) return false;
  try {
    new RegExp(pattern, "u");
  } catch {
    return false;
  }
  const wild: boolean[] = [];
  let inWild = false;
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at];
    if (char === "\\") {
      if (/[1-9k]/.test(pattern[at + 1] ?? "")) return false; // a back reference
      at += 1;
    } else if (char === "[") {
      for (at += 1; at < pattern.length && pattern[at] !== "]"; at++) if (pattern[at] === "\\") at += 1;
    } else if (char === "(") {
      wild.push(inWild);
      inWild = false;
    } else if (char === ")") {
      const held: boolean = inWild;
      const repeated = repeats(pattern, at + 1);
      if (held && repeated) return false;
      inWild = (wild.pop() ?? false) || held || repeated;
    } else if (char === "|" || repeats(pattern, at)) inWild = true;
  }
  return true;
}

function repeats(pattern: string, at: number): boolean {
  return /^(?:[*+]|\{\d+,\d*\})/.test(pattern.slice(at, at + 20));
}
