import type { Json, JsonObject } from "../../schema/json.ts";

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !isList(value);
}

/** A property of its own, and never one of its prototype. */
export function own(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

export function textsOf(value: Json): readonly string[] | undefined {
  if (!isList(value)) return undefined;
  const texts = value.filter((one) => typeof one === "string");
  return texts.length === value.length ? texts : undefined;
}
