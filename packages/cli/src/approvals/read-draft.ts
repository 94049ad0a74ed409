import type { Json, JsonObject } from "trackside";
import { escapeHidden } from "../screen/json-text.ts";
import { messageOf } from "./approver.ts";

export type Read<T> = { readonly value: T } | { readonly problem: string };

/** Arguments as a person wrote them. */
export function readArguments(text: string): Read<JsonObject> {
  const read = readJson(text);
  if ("problem" in read) return read;
  const { value } = read;
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return { value: value as JsonObject }; // neither null nor a list, so an object
  return { problem: 'one JSON object expected, such as {"key": "value"}' };
}

/**
 * A tool's result as a person wrote it: JSON where it is some, else text. Where only a text fits nothing else is made of
 * it, so that 42 or true can be one.
 */
export function readResult(text: string, schema: JsonObject | null): Read<Json> {
  const trimmed = text.trim();
  const read = readJson(trimmed);
  const isJson = "value" in read;
  if (schema?.type === "string") return isJson && typeof read.value === "string" ? read : { value: trimmed };
  if (isJson) return read;
  // A schema that wants something else than a text says so, in the terms of JSON.
  return schema === null || schema.type === undefined ? { value: trimmed } : read;
}

/** Arguments as text that can be changed: the same JSON, nothing hidden in it. */
export function draftOf(value: Json, indent = 0): string {
  return escapeHidden(JSON.stringify(value, null, indent));
}

function readJson(text: string): Read<Json> {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { problem: `this is not valid JSON: ${messageOf(error)}` };
  }
}
