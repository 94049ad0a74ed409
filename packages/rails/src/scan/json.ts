import type { Json, JsonObject } from "trackside";
import type { Rewriting } from "./rewriter.ts";

/** Below this no number is a card, a phone or anything else that is looked for. */
const SMALLEST_NUMBER = 1_000_000;

/** What a value costs beside its text. */
const VALUE_COST = 32;

/** Rewrites every text in a JSON value, keys and long numbers too; the same value when there was nothing to rewrite. */
export async function rewriteJson(value: Json, rewriting: Rewriting, key = ""): Promise<Json> {
  if (typeof value === "string") return rewriting.text(value, key);
  if (typeof value === "number") return rewriteNumber(value, rewriting, key);
  if (typeof value !== "object" || value === null) return value;
  return isList(value) ? rewriteList(value, rewriting, key) : rewriteObject(value, rewriting);
}

export async function rewriteObject(value: JsonObject, rewriting: Rewriting): Promise<JsonObject> {
  let changed = false;
  const entries: [string, Json][] = [];
  const taken = new Set<string>();
  for (const [key, inner] of Object.entries(value)) {
    const wait = rewriting.spent(VALUE_COST);
    if (wait) await wait;
    const left = holdsNothing(inner) ? inner : await rewriteJson(inner, rewriting, `${key}: `);
    const name = await rewriting.text(key);
    changed ||= left !== inner || name !== key;
    entries.push([free(name, taken), left]);
  }
  return changed ? Object.fromEntries(entries) : value; // defines even a key `__proto__`
}

async function rewriteList(value: readonly Json[], rewriting: Rewriting, key: string): Promise<Json> {
  let changed = false;
  const list: Json[] = [];
  for (const inner of value) {
    const wait = rewriting.spent(VALUE_COST);
    if (wait) await wait;
    const left = holdsNothing(inner) ? inner : await rewriteJson(inner, rewriting, key);
    changed ||= left !== inner;
    list.push(left);
  }
  return changed ? list : value;
}

/** Neither a text nor a long number, nor anything with one in it. */
function holdsNothing(value: Json): boolean {
  if (typeof value === "number") return !Number.isSafeInteger(value) || value < SMALLEST_NUMBER;
  return value === null || typeof value === "boolean";
}

async function rewriteNumber(value: number, rewriting: Rewriting, key: string): Promise<Json> {
  if (holdsNothing(value)) return value;
  const text = String(value);
  const left = await rewriting.text(text, key);
  return left === text ? value : left;
}

/** Two keys may look alike once they are rewritten; neither value is lost. */
function free(name: string, taken: Set<string>): string {
  let unique = name;
  for (let i = 2; taken.has(unique); i++) unique = `${name} (${i})`;
  taken.add(unique);
  return unique;
}

function isList(value: object): value is readonly Json[] {
  return Array.isArray(value);
}
