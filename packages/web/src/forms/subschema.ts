import type { Json, JsonObject } from "trackside/schema";

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** The schemas under a keyword such as `anyOf`. */
export function schemasIn(schema: JsonObject, keyword: string): readonly JsonObject[] {
  const found = schema[keyword];
  return isList(found) ? found.filter(isObject) : [];
}

export function objectIn(schema: JsonObject, keyword: string): JsonObject | undefined {
  const found = Object.hasOwn(schema, keyword) ? schema[keyword] : undefined;
  return isObject(found) ? found : undefined;
}

export function numberIn(schema: JsonObject, keyword: string): number | undefined {
  const found = schema[keyword];
  return typeof found === "number" ? found : undefined;
}

export function textIn(schema: JsonObject, keyword: string): string | undefined {
  const found = schema[keyword];
  return typeof found === "string" ? found : undefined;
}

export function textsIn(schema: JsonObject, keyword: string): readonly string[] {
  const found = schema[keyword];
  return isList(found) ? found.filter((one) => typeof one === "string") : [];
}

/** References lead to references; one that leads round in a circle says nothing. */
const MAX_HOPS = 20;

/** A schema with its reference followed and what stands beside it kept; undefined where that leads nowhere. */
export function resolved(schema: JsonObject, root: JsonObject): JsonObject | undefined {
  let found = schema;
  for (let hops = 0; hops < MAX_HOPS; hops++) {
    const { $ref, ...beside } = found;
    if ($ref === undefined) return found;
    const target = typeof $ref === "string" ? pointedAt($ref, root) : undefined;
    if (target === undefined) return undefined;
    found = { ...target, ...beside };
  }
  return undefined;
}

function pointedAt(reference: string, root: JsonObject): JsonObject | undefined {
  if (!/^#(\/|$)/.test(reference)) return undefined;
  let found: Json | undefined = root;
  for (const piece of reference.split("/").slice(1)) {
    const key = unescaped(piece);
    if (key === undefined || typeof found !== "object" || found === null || !Object.hasOwn(found, key))
      return undefined;
    found = (found as JsonObject)[key]; // a list has its indexes as keys
  }
  return isObject(found) ? found : undefined;
}

function unescaped(piece: string): string | undefined {
  try {
    return decodeURIComponent(piece).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return undefined; // no valid percent encoding
  }
}

export function sameJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (isList(a) && isList(b)) return a.length === b.length && a.every((one, i) => sameJson(one, b[i]));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key], b[key]))
  );
}
