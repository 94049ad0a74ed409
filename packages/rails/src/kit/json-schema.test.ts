import { describe, expect, test } from "vitest";
import { compileCheck, jsonSchema } from "./json-schema.ts";

describe("a schema in options", () => {
  test.each([
    {},
    { type: ["object", "null"], properties: { a: { $ref: "#/$defs/b" } }, $defs: { b: { enum: [1, 2] } } },
    { properties: { type: { const: "x" }, required: true, "any name": { minLength: 1 } } },
    { oneOf: [{ not: { pattern: "^a" } }, { if: { minimum: 1 }, else: false }] },
  ])("is taken when every keyword is known: %j", (schema) => {
    expect(jsonSchema.safeParse(schema).success).toBe(true);
  });

  test.each([
    [{ propertes: {} }, "propertes"],
    [{ properties: { a: { maxLenght: 3 } } }, "properties.a.maxLenght"],
    [{ type: "strng" }, "type"],
    [{ items: [{ type: "string" }] }, "items"],
    [{ pattern: "(" }, "pattern"],
    [{ patternProperties: { "[": {} } }, "patternProperties"],
    [{ $ref: "https://example.com/schema" }, "$ref"],
    [{ anyOf: [] }, "anyOf"],
    [{ required: "a" }, "required"],
    [{ maximum: "5" }, "maximum"],
    [{ enum: "a" }, "enum"],
    [[], "a JSON Schema"],
    ["string", "a JSON Schema"],
    [null, "a JSON Schema"],
  ])("%j is refused, and the place is named", (schema, place) => {
    expect(jsonSchema.safeParse(schema).error?.issues[0]?.message).toContain(place);
  });
});

test("what is wrong with a value is told by its place", () => {
  const check = compileCheck({
    type: "object",
    properties: { a: { type: "object", properties: { b: { maximum: 3 } } } },
    required: ["a"],
  });
  expect(check({ a: { b: 3 } })).toBeUndefined();
  expect(check({ a: { b: 4 } })).toMatch(/^a\.b: 4 is greater than 3/);
  expect(check({})).toMatch(/"a"/);
});

test("a schema given in options is not changed by checking with it", () => {
  const schema = Object.freeze({
    type: "object",
    properties: Object.freeze({ a: Object.freeze({ type: "string" }) }),
  });
  expect(compileCheck(schema)({ a: 1 })).toContain("a");
});
