import type { JsonObject } from "../schema/json.ts";

export type ParsedArguments =
  | { readonly ok: true; readonly value: JsonObject }
  | { readonly ok: false; readonly problem: string };

const FORBIDDEN = ["__proto__", "constructor", "prototype"];
/** Cheap and certain enough to skip the walk: an escape could spell a forbidden key. */
const SUSPECT = /__proto__|constructor|prototype|\\u/;

/** Reads the arguments a model wrote: strictly JSON, an object, and no key that could reach a prototype. */
export function parseArguments(text: string): ParsedArguments {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return {
      ok: false,
      problem: `the arguments are not valid JSON (${error instanceof Error ? error.message : error})`,
    };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { ok: false, problem: "the arguments are not a JSON object" };
  }
  const key = SUSPECT.test(text) ? forbiddenKey(value) : undefined;
  if (key !== undefined)
    return { ok: false, problem: `the arguments contain the forbidden key ${JSON.stringify(key)}` };
  return { ok: true, value: value as JsonObject }; // came out of JSON.parse and is an object
}

function forbiddenKey(value: unknown): string | undefined {
  const left: unknown[] = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next !== "object" || next === null) continue;
    for (const [key, inner] of Object.entries(next)) {
      if (FORBIDDEN.includes(key)) return key;
      left.push(inner);
    }
  }
  return undefined;
}
