import * as z from "zod";

/** Anything that survives `JSON.parse(JSON.stringify(x))` unchanged. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

const MAX_DEPTH = 100;

// Stored values were written by JSON itself, so walking them again would only cost; the type is the promise.
export const json = z.custom<Json>((value) => value !== undefined, "a JSON value");
export const jsonObject = z.custom<JsonObject>(isRecord, "a JSON object");

/** For what people write: every level is looked at. */
export const strictJsonObject = z.custom<JsonObject>(
  (value) => isRecord(value) && isJson(value, 0),
  "a JSON object (no functions, dates, cycles or undefined in it)",
);

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isJson(value: unknown, depth: number): boolean {
  if (value === null || typeof value === "boolean" || typeof value === "string") return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || depth > MAX_DEPTH) return false;
  if (Array.isArray(value)) return value.every((inner) => isJson(inner, depth + 1));
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  return Object.values(value).every((inner) => isJson(inner, depth + 1));
}

/** A frozen copy, all the way down. */
export function frozenCopy<T>(value: T): T {
  return deepFreeze(JSON.parse(JSON.stringify(value)));
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}
