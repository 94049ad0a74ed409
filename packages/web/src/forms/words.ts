import type { Json, JsonObject } from "trackside/schema";
import { isList, numberIn, textIn } from "./subschema.ts";

const TYPES: Readonly<Record<string, string>> = {
  array: "a list",
  boolean: "yes or no",
  integer: "a whole number",
  null: "empty",
  number: "a number",
  object: "an object",
  string: "a text",
};

const FORMATS: Readonly<Record<string, string>> = {
  date: "a date such as 2026-01-31",
  "date-time": "a date and time such as 2026-01-31T12:00:00Z",
  duration: "a duration such as PT5M",
  email: "an e-mail address",
  hostname: "a host name",
  ipv4: "an IPv4 address",
  ipv6: "an IPv6 address",
  regex: "a regular expression",
  time: "a time such as 12:00:00Z",
  uri: "an address such as https://example.com",
  uuid: "a UUID",
};

/** What a keyword that does not hold asks for, to be read after the name of a field. */
export function wordsFor(keyword: string, schema: JsonObject): string {
  const limit = numberIn(schema, keyword) ?? 0;
  switch (keyword) {
    case "type":
      return `has to be ${typeWords(schema["type"])}`;
    case "const":
      return `has to be ${shown(schema["const"] ?? null)}`;
    case "enum":
      return `has to be ${isList(schema["enum"]) ? either(schema["enum"].map(shown)) : "one of the choices"}`;
    case "minLength":
      return limit === 1 ? "must not be empty" : `has to have at least ${limit} characters`;
    case "maxLength":
      return `may have at most ${counted(limit, "character")}`;
    case "pattern":
      return `does not have the right form: ${textIn(schema, "description") ?? textIn(schema, "pattern")}`;
    case "format": {
      const format = textIn(schema, "format") ?? "";
      return `has to be ${FORMATS[format] ?? `of the form ${format}`}`;
    }
    case "minimum":
      return `has to be at least ${limit}`;
    case "maximum":
      return `has to be at most ${limit}`;
    case "exclusiveMinimum":
      return `has to be more than ${limit}`;
    case "exclusiveMaximum":
      return `has to be less than ${limit}`;
    case "multipleOf":
      return `has to be a multiple of ${limit}`;
    case "minItems":
    case "minProperties":
      return limit === 1 ? "needs an entry" : `needs at least ${limit} entries`;
    case "maxItems":
    case "maxProperties":
      return limit === 1 ? "may have at most one entry" : `may have at most ${limit} entries`;
    case "uniqueItems":
      return "has the same entry twice";
    default:
      return "lacks an entry that it needs";
  }
}

function typeWords(type: Json | undefined): string {
  const types = isList(type) ? type : [type ?? null];
  return either(types.map((one) => TYPES[String(one)] ?? String(one)));
}

function shown(value: Json): string {
  return typeof value === "string" && value !== "" ? value : JSON.stringify(value);
}

function either(words: readonly string[]): string {
  return words.length > 1 ? `${words.slice(0, -1).join(", ")} or ${words.at(-1)}` : (words[0] ?? "nothing");
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
