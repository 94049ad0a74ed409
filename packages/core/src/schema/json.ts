import * as z from "zod";
import { isPlain } from "./preview.ts";

/** Anything that survives `JSON.parse(JSON.stringify(x))` unchanged. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

const MAX_DEPTH = 100;

// Stored values were written by JSON itself, so walking them again would only cost; the type is the promise.
export const json = z.lazy(() => z.custom<Json>((value) => value !== undefined, "a JSON value"));
export const jsonObject = z.lazy(() => z.custom<JsonObject>(isRecord, "a JSON object"));

/** For what people write: every level is looked at. */
export const strictJsonObject = z.lazy(() =>
  z.custom<JsonObject>(
    isJsonObject,
    "a JSON object (no functions, dates, cycles, undefined or key `__proto__` in it)",
  ),
);

/** The same for any JSON value. */
export const strictJson = z.lazy(() =>
  z.custom<Json>(isJson, "a JSON value (no functions, dates, cycles, undefined or key `__proto__` in it)"),
);

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether an object survives being written as JSON and read again. What cannot even be read does not. */
export function isJsonObject(value: unknown): value is JsonObject {
  try {
    return isRecord(value) && survives(value, 0);
  } catch {
    return false;
  }
}

/** The same for any value. */
export function isJson(value: unknown): value is Json {
  try {
    return survives(value, 0);
  } catch {
    return false;
  }
}

function survives(value: unknown, depth: number): boolean {
  if (value === null || typeof value === "boolean" || typeof value === "string") return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || depth > MAX_DEPTH) return false;
  const inner: unknown[] = Object.values(value);
  if (Array.isArray(value)) {
    if (inner.length !== value.length) return false; // a hole, or a key beside the entries
  } else if (!isPlain(value) || Object.hasOwn(value, "__proto__")) return false;
  return inner.every((one) => survives(one, depth + 1));
}

/** A frozen copy, all the way down. */
export function frozenCopy<T>(value: T): T {
  return deepFreeze(JSON.parse(JSON.stringify(value)));
}

/** Freezes in place, all the way down; what is frozen already is taken to be so inside too. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}
