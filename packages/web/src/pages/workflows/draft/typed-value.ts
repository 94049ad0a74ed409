import type { Json } from "trackside/schema";

/**
 * A value as somebody types it into one field: numbers, `true`, `false`, `null` and JSON in brackets or quotes are what
 * they look like; everything else is a text, and may be a template.
 */
export function readTyped(text: string): Json {
  const trimmed = text.trim();
  if (!LOOKS_LIKE_JSON.test(trimmed) || trimmed.startsWith("{{")) return text;
  try {
    return JSON.parse(trimmed) as Json; // what JSON.parse gives is JSON
  } catch {
    return text;
  }
}

const LOOKS_LIKE_JSON = /^(?:-?\d|true$|false$|null$|["[{])/;

/** The other way round: a text that would be taken for something else stands in quotes. */
export function typedOf(value: Json | undefined): string {
  if (value === undefined) return "";
  if (typeof value !== "string") return JSON.stringify(value);
  return readTyped(value) === value ? value : JSON.stringify(value);
}
