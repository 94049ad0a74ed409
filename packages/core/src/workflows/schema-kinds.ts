import type { Json } from "../schema/json.ts";

/** The kinds of JSON values, as bits: a schema allows any number of them. */
export const NULL = 1;
export const BOOLEAN = 2;
export const INTEGER = 4;
const FRACTION = 8;
export const NUMBER = INTEGER | FRACTION;
export const TEXT = 16;
export const ARRAY = 32;
export const OBJECT = 64;
export const ALL_KINDS = 127;

const TYPES: ReadonlyMap<Json, number> = new Map([
  ["null", NULL],
  ["boolean", BOOLEAN],
  ["integer", INTEGER],
  ["number", NUMBER],
  ["string", TEXT],
  ["array", ARRAY],
  ["object", OBJECT],
]);

/** What `type` says, as one name or a list of them. */
export function kindsOfTypes(type: Json | undefined): number {
  const names: readonly Json[] = Array.isArray(type) ? type : [type ?? ""];
  const kinds = names.slice(0, 20).reduce<number>((sum, name) => sum | (TYPES.get(name) ?? ALL_KINDS), 0);
  return kinds === 0 ? ALL_KINDS : kinds;
}

export function kindsOfValues(values: readonly Json[]): number {
  return values.reduce<number>((sum, value) => sum | kindOfValue(value), 0);
}

function kindOfValue(value: Json): number {
  if (value === null) return NULL;
  if (Array.isArray(value)) return ARRAY;
  switch (typeof value) {
    case "string":
      return TEXT;
    case "number":
      return Number.isInteger(value) ? INTEGER : FRACTION;
    case "boolean":
      return BOOLEAN;
    default:
      return OBJECT;
  }
}

/** Kinds in words. */
export function kindsText(kinds: number): string {
  if (kinds === ALL_KINDS) return "anything";
  const words: string[] = [];
  if (kinds & TEXT) words.push("a text");
  if ((kinds & NUMBER) === INTEGER) words.push("a whole number");
  else if (kinds & NUMBER) words.push("a number");
  if (kinds & BOOLEAN) words.push("true or false");
  if (kinds & ARRAY) words.push("a list");
  if (kinds & OBJECT) words.push("an object");
  if (kinds & NULL) words.push("null");
  return words.join(" or ");
}
