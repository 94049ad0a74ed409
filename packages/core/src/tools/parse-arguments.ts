import { messageOf } from "../errors.ts";
import { deepFreeze, type JsonObject } from "../schema/json.ts";

export type ParsedArguments =
  | { readonly ok: true; readonly value: JsonObject }
  | { readonly ok: false; readonly problem: string };

const FORBIDDEN = ["__proto__", "constructor", "prototype"];
/** Deeper than any tool's arguments, and shallow enough for everything that walks them later. */
const MAX_DEPTH = 100;
/** Cheap and certain enough to skip the walk: an escape could spell a forbidden key, and depth takes characters. */
const SUSPECT = /__proto__|constructor|prototype|\\u/;

/** Reads the arguments a model wrote: strictly JSON, an object, and no key that could reach a prototype. Frozen. */
export function parseArguments(text: string): ParsedArguments {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { ok: false, problem: `the arguments are not valid JSON (${messageOf(error)})` };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { ok: false, problem: "the arguments are not a JSON object" };
  }
  const problem = text.length > 2 * MAX_DEPTH || SUSPECT.test(text) ? problemIn(value) : undefined;
  if (problem !== undefined) return { ok: false, problem: `the arguments ${problem}` };
  return { ok: true, value: deepFreeze(value as JsonObject) }; // came out of JSON.parse and is an object
}

/** Looks level by level, so that no depth can exhaust the stack. */
function problemIn(value: object): string | undefined {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return `are nested more than ${MAX_DEPTH} levels deep`;
    const below: unknown[] = [];
    for (const one of level) {
      if (typeof one !== "object" || one === null) continue;
      for (const [key, inner] of Object.entries(one)) {
        if (FORBIDDEN.includes(key)) return `contain the forbidden key ${JSON.stringify(key)}`;
        below.push(inner);
      }
    }
    level = below;
  }
  return undefined;
}
