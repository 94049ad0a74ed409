import type { Json, JsonObject } from "trackside/schema";
import { describe, expect, test } from "vitest";
import { pathText, problemsOf, readPath } from "./schema-form.ts";

/** Written so, because an object with such a key looks like a promise. */
const THEN = "then";

function told(schema: JsonObject, value: Json): string[] {
  return problemsOf(schema, value).map(({ path, message }) => `${pathText(path)} ${message}`.trim());
}

const tools = {
  anyOf: [
    { type: "string", pattern: "^[a-z]+$", description: "A tool's name." },
    {
      type: "array",
      items: { type: "string", pattern: "^[a-z]+$", description: "A tool's name." },
      minItems: 1,
    },
  ],
};

test.each<[JsonObject, Json, string]>([
  [{ type: "string" }, 1, "has to be a text"],
  [{ type: ["integer", "null"] }, "a", "has to be a whole number or empty"],
  [{ type: "string", enum: ["a", "b", ""] }, "c", 'has to be a, b or ""'],
  [{ enum: ["a", "b"], type: "string" }, null, "has to be a or b"],
  [{ const: true }, false, "has to be true"],
  [{ oneOf: [{ const: "a" }, { const: "b" }] }, "c", "has to be a or b"],
  [{ type: "string", minLength: 1, pattern: "^a" }, "", "must not be empty"],
  [{ minLength: 3 }, "a", "has to have at least 3 characters"],
  [{ maxLength: 1 }, "ab", "may have at most 1 character"],
  [{ pattern: "^a", description: "Begins with a." }, "b", "does not have the right form: Begins with a."],
  [{ pattern: "^a" }, "b", "does not have the right form: ^a"],
  [{ format: "email" }, "a", "has to be an e-mail address"],
  [{ format: "uri" }, "a b", "has to be an address such as https://example.com"],
  [{ minimum: 1 }, 0, "has to be at least 1"],
  [{ maximum: 1 }, 2, "has to be at most 1"],
  [{ exclusiveMinimum: 0 }, 0, "has to be more than 0"],
  [{ exclusiveMaximum: 1 }, 1, "has to be less than 1"],
  [{ multipleOf: 5 }, 3, "has to be a multiple of 5"],
  [{ type: "array", minItems: 1 }, [], "needs an entry"],
  [{ type: "array", maxItems: 2 }, [1, 2, 3], "may have at most 2 entries"],
  [{ uniqueItems: true }, [1, 1], "has the same entry twice"],
  [{ not: { const: 1 } }, 1, "is not allowed"],
  [tools, "A", "does not have the right form: A tool's name."],
  [tools, ["a", "B"], "[1] does not have the right form: A tool's name."],
  [tools, [], "needs an entry"],
  [tools, 5, "has to be a text, or has to be a list"],
  [{ oneOf: [{ type: "number" }, { minimum: 0 }] }, 1, "could be read in more than one way"],
])("%j of %j: %s", (schema, value, message) => {
  expect(told(schema, value)).toEqual([message]);
});

describe("of an object", () => {
  const schema: JsonObject = {
    type: "object",
    properties: { a: { type: "string" }, rules: { type: "array", items: { $ref: "#/$defs/rule" } } },
    required: ["a"],
    additionalProperties: false,
    $defs: { rule: { type: "object", properties: { n: { type: "integer", minimum: 1 } }, required: ["n"] } },
  };

  test("every problem is told, each at its place", () => {
    expect(told(schema, { b: 1, rules: [{ n: 0 }, {}, 5] })).toEqual([
      "a is needed",
      "b is not known here",
      "rules[0].n has to be at least 1",
      "rules[1].n is needed",
      "rules[2] has to be an object",
    ]);
    expect(told(schema, { a: "", rules: [{ n: 1 }] })).toEqual([]);
  });

  test("names of a map are checked as names", () => {
    const map = {
      type: "object",
      propertyNames: { pattern: "^[a-z]+$" },
      additionalProperties: { type: "integer" },
    };
    expect(told(map, { "a b": 1, c: "x" })).toEqual([
      "a b as a name does not have the right form: ^[a-z]+$",
      "c has to be a whole number",
    ]);
  });

  test.each<[JsonObject, Json, string]>([
    [{ anyOf: [{ required: ["a"] }, { required: ["b"] }] }, {}, "needs at least one of a, b"],
    [{ oneOf: [{ required: ["a"] }, { required: ["b"] }] }, { a: 1, b: 1 }, "needs exactly one of a, b"],
    [{ not: { required: ["a", "b"] } }, { a: 1, b: 1 }, "cannot have a and b together"],
    [{ dependentRequired: { a: ["b"] } }, { a: 1 }, "b is needed with a"],
    [{ dependentSchemas: { a: { required: ["b"] } } }, { a: 1 }, "b is needed with a"],
    [
      { if: { properties: { a: { const: "x" } }, required: ["a"] }, [THEN]: { required: ["b"] } },
      { a: "x" },
      "b is needed when a is x",
    ],
  ])("conditions are told in words: %j", (condition, value, message) => {
    expect(told({ type: "object", ...condition }, value)).toEqual([message]);
  });
});

test("schemas of draft 7 are read as such", () => {
  const schema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    definitions: { n: { type: "integer" } },
    items: [{ $ref: "#/definitions/n" }, { type: "string" }],
    additionalItems: false,
  };
  expect(told(schema, [1, "a"])).toEqual([]);
  expect(told(schema, ["a", "a", 3])).toEqual(["[0] has to be a whole number", "[2] is not known here"]);
});

test("a schema that holds itself ends", () => {
  const schema = {
    $ref: "#/$defs/node",
    $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } } },
  };
  expect(told(schema, { next: { next: { next: 1 } } })).toEqual(["next.next.next has to be an object"]);
});

test.each<JsonObject>([{ pattern: "(" }, { $ref: "#/$defs/none" }, { patternProperties: { "(": true } }])(
  "what cannot be checked here is left to the server: %j",
  (schema) => {
    expect(problemsOf(schema, "a")).toEqual([]);
  },
);

test("the schema is not marked", () => {
  const schema = Object.freeze({ type: "string", minLength: 2 });
  expect(told(schema, "a")).toHaveLength(1);
  expect(Object.getOwnPropertyNames(schema)).toEqual(["type", "minLength"]);
});

test.each([
  ["", []],
  ["a", ["a"]],
  ["rules[0].tools", ["rules", 0, "tools"]],
  ['limits["a.b"][1]', ["limits", "a.b", 1]],
  ["tools.get_*", ["tools", "get_*"]],
  ["[2].a b", [2, "a b"]],
])("the path %j and %j are the same", (text, path) => {
  expect(pathText(path)).toBe(text);
  expect(readPath(text)).toEqual(path);
});

test("a path of another form is one place, and the root is none", () => {
  expect(readPath("(root)")).toEqual([]);
  expect(readPath("a[b")).toEqual(["a[b"]);
});
