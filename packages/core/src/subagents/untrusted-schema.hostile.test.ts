import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../schema/json.ts";
import type { Checked } from "../tools/compile-schema.ts";
import { readUntrustedSchema } from "./untrusted-schema.ts";

function check(schema: unknown, value: unknown): Checked | Promise<Checked> {
  const read = readUntrustedSchema(schema);
  if (!read.ok) throw new Error(read.problem);
  return read.schema.check(value);
}

function problemOf(schema: unknown): string {
  const read = readUntrustedSchema(schema);
  return read.ok ? "none" : read.problem;
}

describe("S5 a hostile schema is refused", () => {
  test.each<[string, unknown, string]>([
    ["text", '{"type":"string"}', "write it as JSON, not in quotes"],
    ["a list", [], "(an object) expected"],
    ["nothing", undefined, "it is not JSON"],
    ["a function", { type: () => 1 }, "it is not JSON"],
    ["a date", { const: new Date(0) }, "it is not JSON"],
    ["not a number", { minimum: Number.NaN }, "it is not JSON"],
    ["too many bytes", { description: "ä".repeat(9000) }, "at most 16384 bytes"],
    ["too much text", { description: "a".repeat(20_000) }, "more than 16384 characters"],
    ["too many values", { enum: Array.from({ length: 3500 }, () => 1) }, "more than 3000 values"],
    [
      "a key of prototypes",
      JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'),
      'forbidden key "__proto__"',
    ],
    ["a constructor", { properties: { constructor: {} } }, 'forbidden key "constructor"'],
    ["a remote reference", { $ref: "https://example.org/a.json" }, "a path within this schema"],
    ["a file", { $ref: "file:///etc/passwd" }, "a path within this schema"],
    ["an anchor", { $anchor: "a", $ref: "#a" }, "#/$anchor: not supported"],
    ["a reference to nothing", { $ref: "#/$defs/none" }, '"#/$defs/none" leads to none'],
    ["a reference to what is no schema", { enum: [{ type: "x" }], $ref: "#/enum/0" }, "leads to none"],
    ["a reference into a prototype", { $ref: "#/toString" }, "leads to none"],
    ["a reference of half a code", { $ref: "#/%E0%A4%A" }, "a path within this schema"],
    ["a reference that is no text", { $ref: 5 }, "a path within this schema"],
    ["a circle of one", { $ref: "#" }, "a circle"],
    [
      "a circle of two",
      { $defs: { a: { $ref: "#/$defs/b" }, b: { allOf: [{ $ref: "#/$defs/a" }] } } },
      "a circle",
    ],
    ["a circle through not", { not: { $ref: "#" } }, "a circle"],
    ["a circle through if", { if: false, else: { anyOf: [true, { $ref: "#" }] } }, "a circle"],
    ["a circle through dependentSchemas", { dependentSchemas: { a: { $ref: "#" } } }, "a circle"],
    [
      "too many references",
      { anyOf: Array.from({ length: 101 }, () => ({ $ref: "#/$defs/a" })), $defs: { a: true } },
      "at most 100 $ref",
    ],
    [
      "another base",
      { properties: { a: { $id: "https://example.org" } } },
      "#/properties/a/$id: not supported",
    ],
    ["a dynamic reference", { $dynamicRef: "#a" }, "use $ref"],
    ["unevaluatedProperties", { unevaluatedProperties: false }, "use additionalProperties"],
    ["a pattern that goes back", { pattern: "(a)\\1" }, "#/pattern: a simple regular expression expected"],
    ["a pattern for keys that looks ahead", { patternProperties: { "(?=a)": true } }, "looks ahead"],
    [
      "too many patterns",
      { allOf: Array.from({ length: 9 }, () => ({ pattern: "a{999}" })) },
      "more than 5000 states",
    ],
    ["an unknown type", { type: "float" }, "one or a list of null, boolean, integer"],
    ["a type of prototypes", { type: "toString" }, "one or a list of"],
    [
      "required of old",
      { properties: { a: { required: true } } },
      "#/properties/a/required: a list of property names",
    ],
    ["a bad count", { minLength: -1 }, "a whole number of at least 0"],
    ["a bad divisor", { multipleOf: 0 }, "a number above 0"],
    ["no forms", { anyOf: [] }, "a list of schemas that is not empty"],
    [
      "a schema that is none",
      { properties: { a: "string" } },
      "#/properties/a: a schema (an object, true or false)",
    ],
    ["properties that are none", { properties: [] }, "an object of schemas"],
  ])("S2 %s", (_, schema, problem) => {
    expect(problemOf(schema)).toContain(problem);
  });

  test("S2 what contains itself, throws or is nested too deep", () => {
    const self: Record<string, unknown> = { type: "object" };
    self["not"] = self;
    expect(problemOf(self)).toContain("more than 40 levels");
    const throwing = Object.defineProperty({}, "type", { enumerable: true, get: () => expect.fail() });
    expect(problemOf(throwing)).toContain("cannot be read");
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    expect(problemOf(revoked.proxy)).toContain("cannot be read");
  });

  test("S2 all problems are told at once, up to a limit", () => {
    expect(problemOf({ type: "x", minLength: "y", pattern: "(" }).split("; ")).toHaveLength(3);
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`a${i}`, 1]));
    expect(problemOf({ properties: many }).split("; ")).toHaveLength(10);
  });

  test("S2 anything at all is read or refused, and never throws", () => {
    const keyword = fc.constantFrom(...KEYWORDS);
    const noise = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<unknown>(
          true,
          false,
          null,
          1,
          -1,
          0.5,
          "#",
          "#/$defs/a",
          "string",
          "(a+)+$",
          "a",
          undefined,
        ),
        fc.array(tie("any"), { maxLength: 3 }),
        fc.dictionary(fc.oneof(keyword, fc.constantFrom("a", "b")), tie("any"), { maxKeys: 4 }),
      ),
    })).any;
    fc.assert(
      fc.property(noise, fc.anything(), (schema, value) => {
        const read = readUntrustedSchema(schema);
        if (read.ok) expect(read.schema.check(value)).toHaveProperty("ok");
        else expect(read.problem).not.toBe("");
      }),
      { numRuns: 1000 },
    );
  });
});

describe("S5 a check ends whatever the value", () => {
  const tooLong = { ok: false, problem: expect.stringContaining("too long to check") };
  const object = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`k${i}`, i]));
  const text = `${"a".repeat(500_000)}!`;

  test.each<[string, JsonObject, Json]>([
    ["anyOf", doubled("anyOf", { type: "string" }), 1],
    ["oneOf", doubled("oneOf", { type: "string" }), object],
    ["allOf", doubled("allOf", { minProperties: 1 }), object],
    ["additionalProperties", doubled("anyOf", { additionalProperties: false }), object],
    ["pattern", doubled("allOf", { pattern: "(a+)+$" }), text],
    ["enum", doubled("anyOf", { enum: ["b"] }), text],
    ["maxLength", doubled("anyOf", { maxLength: 1 }), text],
    ["uniqueItems", doubled("allOf", { uniqueItems: true }), Object.keys(object)],
    ["propertyNames", doubled("oneOf", { propertyNames: { pattern: "^k" } }), object],
    ["contains", doubled("oneOf", { contains: { const: -1 }, minContains: 0 }), Object.values(object)],
  ])("S5 forms that multiply end at a limit: %s", (_, schema, value) => {
    expect(check(schema, value)).toEqual(tooLong);
  });

  test("S5 a long chain of schemas for one value does not exhaust the stack", () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 99 }, (_, i) => [
        `a${i}`,
        i === 98 ? {} : { allOf: [{ allOf: [{ allOf: [{ allOf: [{ $ref: `#/$defs/a${i + 1}` }] }] }] }] },
      ]),
    );
    expect(check({ $defs, $ref: "#/$defs/a0" }, 1)).toEqual(tooLong);
  });

  test.each<[string, unknown, string]>([
    ["nothing", undefined, "not JSON"],
    ["a function", () => 1, "not JSON"],
    ["a bigint", 1n, "not JSON"],
    ["a map", new Map(), "not JSON"],
    ["no number", [Number.POSITIVE_INFINITY], "not JSON"],
    ["a hole", new Array(2), "not JSON"],
    ["a prototype", JSON.parse('{"__proto__":{"a":1}}'), "forbidden key"],
    ["too much text", "a".repeat(1_000_001), "more than 1000000 characters"],
    ["too many values", Array.from({ length: 100_001 }, () => 0), "more than 100000 values"],
    [
      "an endless list",
      new Proxy([], { get: (_, key) => (key === "length" ? 2 ** 32 : 0) }),
      "more than 100000 values",
    ],
  ])("S5 what is no value or too much is refused: %s", (_, value, problem) => {
    expect(check({}, value)).toMatchObject({ ok: false, problem: expect.stringContaining(problem) });
  });

  test("S5 a value nested too deep, or in itself, is refused", () => {
    const self: unknown[] = [];
    self.push(self);
    expect(check({}, self)).toMatchObject({ problem: expect.stringContaining("100 levels") });
  });

  test("S5 properties named like those of prototypes are plain properties", () => {
    expect(check({ required: ["toString"] }, {})).toMatchObject({ ok: false });
    expect(check({ properties: { a: { type: "number" } } }, { constructor: "Lotus" })).toMatchObject({
      ok: true,
    });
    expect(check({ additionalProperties: { type: "number" } }, { constructor: "Lotus" })).toMatchObject({
      ok: false,
    });
  });

  test("S5 a large value that fits is accepted", () => {
    const list = Array.from({ length: 20_000 }, (_, i) => ({ name: `n${i}`, age: i }));
    const one = {
      type: "object",
      properties: { name: { type: "string", pattern: "^n\\d+$" }, age: { type: "integer" } },
      required: ["name", "age"],
      additionalProperties: false,
    };
    expect(check({ type: "array", items: one, uniqueItems: true }, list)).toMatchObject({ ok: true });
  });
});

/** Two ways to the next schema from each of thirty: a billion in all. */
function doubled(keyword: string, leaf: JsonObject): JsonObject {
  const $defs: Record<string, JsonObject> = { a30: leaf };
  for (let i = 0; i < 30; i++) {
    const next = { $ref: `#/$defs/a${i + 1}` };
    $defs[`a${i}`] = { [keyword]: [next, next] };
  }
  return { $defs, $ref: "#/$defs/a0" };
}

const KEYWORDS = [
  "$ref",
  "$defs",
  "definitions",
  "type",
  "enum",
  "const",
  "minimum",
  "multipleOf",
  "minLength",
  "pattern",
  "items",
  "prefixItems",
  "additionalItems",
  "contains",
  "minContains",
  "maxContains",
  "minItems",
  "uniqueItems",
  "properties",
  "patternProperties",
  "additionalProperties",
  "required",
  "propertyNames",
  "maxProperties",
  "dependentRequired",
  "dependentSchemas",
  "dependencies",
  "allOf",
  "anyOf",
  "oneOf",
  "not",
  "if",
  "then",
  "else",
];
