import { type Schema, Validator } from "@cfworker/json-schema";
import type { JsonObject } from "trackside";
import * as z from "zod";

/** Says what is wrong with a value, or nothing. */
export type CheckValue = (value: unknown) => string | undefined;

/** A JSON Schema in options. Every keyword has to be known: a misspelt one would let everything pass. */
export const jsonSchema = z
  .custom<JsonObject>()
  .superRefine((given, ctx) => {
    const found = problemOf(given, "");
    if (found !== undefined) ctx.addIssue({ code: "custom", message: found });
  })
  .meta({ type: "object" });

/** Makes a checked schema ready. */
export function compileCheck(schema: JsonObject): CheckValue {
  // The checker writes marks into what it is given, so it gets a copy; its own type lists keywords one by one.
  const validator = new Validator(JSON.parse(JSON.stringify(schema)) as Schema, "2020-12", false);
  return (value) => {
    const { valid, errors } = validator.validate(value);
    return valid ? undefined : told(errors);
  };
}

const MAX_TOLD = 3;

/** The last ones are the innermost, and say what is really wrong. */
function told(errors: readonly { instanceLocation: string; error: string }[]): string {
  const lines = errors
    .filter(({ error }) => !/subschema|does not match schema|Property ".*" does not match/.test(error))
    .map(({ instanceLocation, error }) => {
      const place = instanceLocation.replace(/^#\/?/, "").replaceAll("/", ".");
      return place === "" ? error : `${place}: ${error}`;
    });
  const shown = (lines.length > 0 ? lines : errors.map(({ error }) => error)).slice(0, MAX_TOLD);
  return shown.join("; ").replace(/\.$/, "");
}

const ONE = [
  "additionalProperties",
  "contains",
  "else",
  "if",
  "items",
  "not",
  "propertyNames",
  "then",
].concat(["unevaluatedItems", "unevaluatedProperties"]);
const LISTS = ["allOf", "anyOf", "oneOf", "prefixItems"];
const MAPS = ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];
const PLAIN = [
  ..."$anchor $comment $id $ref $schema const default dependentRequired deprecated description enum examples".split(
    " ",
  ),
  ..."exclusiveMaximum exclusiveMinimum format maxContains maxItems maxLength maxProperties maximum".split(
    " ",
  ),
  ..."minContains minItems minLength minProperties minimum multipleOf pattern readOnly required title type".split(
    " ",
  ),
  ..."uniqueItems writeOnly".split(" "),
];
const TYPES = ["array", "boolean", "integer", "null", "number", "object", "string"];

/** What is wrong with a schema, with the place; the checker itself would pass over it. */
function problemOf(schema: unknown, at: string): string | undefined {
  if (typeof schema === "boolean" && at !== "") return undefined;
  if (typeof schema !== "object" || schema === null || Array.isArray(schema))
    return `a JSON Schema (an object)${at === "" ? "" : ` at ${at}`}`;
  for (const [keyword, value] of Object.entries(schema)) {
    const place = at === "" ? keyword : `${at}.${keyword}`;
    const problem = keywordProblem(keyword, value, place);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function keywordProblem(keyword: string, value: unknown, place: string): string | undefined {
  if (ONE.includes(keyword)) return problemOf(value, place);
  if (LISTS.includes(keyword)) {
    if (!Array.isArray(value) || value.length === 0) return `a list of schemas at ${place}`;
    return first(value.map((one, i) => [one, `${place}[${i}]`]));
  }
  if (MAPS.includes(keyword)) {
    if (typeof value !== "object" || value === null) return `schemas by name at ${place}`;
    const pattern =
      keyword === "patternProperties" ? Object.keys(value).find((one) => !isPattern(one)) : undefined;
    if (pattern !== undefined) return `regular expressions as keys at ${place}`;
    return first(Object.entries(value).map(([name, one]) => [one, `${place}.${name}`]));
  }
  if (!PLAIN.includes(keyword)) return `a JSON Schema whose keywords are known, which ${place} is not`;
  return plainProblem(keyword, value, place);
}

function plainProblem(keyword: string, value: unknown, place: string): string | undefined {
  if (keyword === "type") {
    const types: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (!types.every((type) => TYPES.includes(String(type))))
      return `a type of ${TYPES.join(", ")} at ${place}`;
  }
  if (keyword === "pattern" && !isPattern(value)) return `a regular expression at ${place}`;
  if (keyword === "$ref" && !(typeof value === "string" && value.startsWith("#")))
    return `a reference inside the schema ("#…") at ${place}`;
  if (keyword === "enum" && !Array.isArray(value)) return `a list of values at ${place}`;
  if (keyword === "required" && !(Array.isArray(value) && value.every((name) => typeof name === "string")))
    return `a list of names at ${place}`;
  if (/^(exclusive)?(max|min)|^multipleOf/i.test(keyword) && typeof value !== "number")
    return `a number at ${place}`;
  return undefined;
}

function first(schemas: readonly (readonly [unknown, string])[]): string | undefined {
  for (const [schema, place] of schemas) {
    const problem = problemOf(schema, place);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function isPattern(value: unknown): boolean {
  try {
    return typeof value === "string" && new RegExp(value, "u") !== undefined;
  } catch {
    return false;
  }
}
