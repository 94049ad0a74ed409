import type { Json, JsonObject } from "trackside";

export function jsonOf(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json; // what JSON.parse answers
  } catch {
    return undefined;
  }
}

/** A tool's result as a client writes it, text, as the tool's schema wants it. */
export function outputFor(text: string, schema: JsonObject | null): Json {
  if (schema?.["type"] === "string") return text;
  const value = jsonOf(text);
  const isPlain = typeof value !== "object" || value === null;
  return value === undefined || (schema === null && isPlain) ? text : value;
}
