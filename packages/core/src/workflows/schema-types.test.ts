import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../schema/json.ts";
import { readUntrustedSchema } from "../subagents/untrusted-schema.ts";
import { mismatch, schemaAt } from "./schema-types.ts";

const text = { type: "string" };
const number = { type: "number" };
const closed = (properties: JsonObject, required: readonly string[] = []) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

function fits(schema: JsonObject, value: Json): boolean {
  return checkerOf(schema)(value);
}

function checkerOf(schema: JsonObject): (value: Json) => boolean {
  const read = readUntrustedSchema(schema);
  if (!read.ok) throw new Error(read.problem);
  return (value) => {
    const checked = read.schema.check(value);
    return "ok" in checked && checked.ok;
  };
}

describe("W4 the schema at a path", () => {
  const order: JsonObject = {
    type: "object",
    properties: {
      id: text,
      lines: { type: "array", items: { $ref: "#/$defs/line" } },
      pair: { type: "array", prefixItems: [text, number], items: false },
      old: { type: "array", items: [text, number], additionalItems: false },
      few: { type: "array", items: text, maxItems: 2 },
      labels: { type: "object", additionalProperties: number },
      open: { type: "object", properties: { a: text }, additionalProperties: true },
      bare: { type: "object" },
      maybe: { anyOf: [closed({ x: text }), { type: "null" }] },
      either: { oneOf: [closed({ x: text }), closed({ x: number, y: number })] },
      all: { allOf: [{ properties: { a: text } }, { properties: { b: number } }] },
      fixed: { const: { a: [1, "two"] } },
      typed: { type: ["object", "null"], properties: { a: text } },
      matched: { type: "object", patternProperties: { "^x": number }, additionalProperties: false },
      decided: { properties: { a: text }, if: { required: ["z"] }, else: { properties: { b: text } } },
      tree: { $ref: "#/$defs/tree" },
    },
    $defs: {
      line: closed({ sku: text, parts: { type: "array", items: { $ref: "#/$defs/line" } } }),
      tree: closed({ value: number, left: { $ref: "#/$defs/tree" } }),
    },
  };

  test.each<[readonly (string | number)[], Json]>([
    [["id"], text],
    [["lines", 0, "sku"], text],
    [["lines", 3, "parts", 1, "sku"], text],
    [["pair", 1], number],
    [["old", 0], text],
    [["few", 1], text],
    [["labels", "anything"], number],
    [["open", "a"], text],
    [["maybe", "x"], text],
    [["either", "x"], { anyOf: [text, number] }],
    [["either", "y"], number],
    [["all", "a"], text],
    [["all", "b"], number],
    [["fixed", "a", 1], { const: "two" }],
    [["typed", "a"], text],
    [["tree", "left", "left", "value"], number],
  ])("W4 %j", (path, known) => {
    expect(schemaAt(order, path)).toEqual({ known });
  });

  test.each<[readonly (string | number)[]]>([
    [["open", "b"]],
    [["bare", "x", 1, "y"]],
    [["matched", "xyz"]],
    [["decided", "b"]],
  ])("W4 %j may be anything", (path) => {
    expect(schemaAt(order, path)).toBe("any");
  });

  test.each<[readonly (string | number)[], string]>([
    [["idd"], 'there is no "idd", but "id", "lines"'],
    [["id", "length"], "a text has no keys"],
    [["id", 0], "a text has no entries"],
    [["lines", "sku"], "a list has no keys"],
    [["lines", 0, "skus"], 'there is no "skus", but "sku", "parts"'],
    [["pair", 2], "there are 2 entries"],
    [["old", 2], "there are 2 entries"],
    [["few", 2], "there are 2 entries at most"],
    [["maybe", "y"], 'there is no "y"'],
    [["either", "z"], 'there is no "z"'],
    [["all", "c"], 'there is no "c"'],
    [["fixed", "b"], "an object without it"],
    [["constructor"], 'there is no "constructor"'],
    [["__proto__"], 'there is no "__proto__"'],
  ])("W4 %j is missing", (path, problem) => {
    expect(schemaAt(order, path)).toEqual({ missing: expect.stringContaining(problem) });
  });

  test("W4 nothing is known where there is no schema, or one that says nothing", () => {
    expect(schemaAt(null, ["a"])).toBe("any");
    expect(schemaAt({}, ["a", 0])).toBe("any");
    expect(schemaAt({ $ref: "#/$defs/none" }, ["a"])).toBe("any");
    expect(schemaAt({ $ref: "https://example.org/x.json" }, ["a"])).toBe("any");
    expect(schemaAt({ properties: { a: true } }, ["a"])).toBe("any");
  });

  test("W4 a part takes along what it refers to", () => {
    const found = schemaAt(order, ["lines"]);
    if (found === "any" || !("known" in found)) throw new Error("it is known");
    expect(fits(found.known, [{ sku: "a", parts: [{ sku: "b" }] }])).toBe(true);
    expect(fits(found.known, [{ sku: "a", parts: [{ sku: 1 }] }])).toBe(false);
    expect(JSON.stringify(found.known)).not.toContain("tree");
  });
});

describe("W4 what certainly does not fit is told in words", () => {
  test.each<[JsonObject, JsonObject, string]>([
    [text, number, "a number expected, a text comes from nodes.x"],
    [number, { type: "boolean" }, "true or false expected, a number comes from nodes.x"],
    [
      { type: ["string", "null"] },
      { type: ["number", "array"] },
      "a number or a list expected, a text or null comes",
    ],
    [
      { type: "array", items: text },
      { type: "array", items: number },
      "a number at [] expected, a text comes from nodes.x[]",
    ],
    [{ enum: ["a", "b"] }, { enum: ["c"] }, '"c" expected, "a" or "b" comes from nodes.x'],
    [{ const: 1 }, { enum: [2, 3] }, "2 or 3 expected, 1 comes from nodes.x"],
    [{ const: 1.5 }, { type: "integer" }, "a whole number expected"],
    [
      closed({ a: text }),
      closed({ b: text }, ["b"]),
      'an object with "b" expected, one without it comes from nodes.x',
    ],
    [
      closed({ a: text }, ["a"]),
      closed({ a: number }),
      "a number at a expected, a text comes from nodes.x.a",
    ],
    [
      closed({ a: text }),
      closed({ a: number }, ["a"]),
      "a number at a expected, a text comes from nodes.x.a",
    ],
    [
      closed({ a: closed({ b: { type: "array", items: closed({ c: text }, ["c"]) } }, ["b"]) }, ["a"]),
      closed({ a: closed({ b: { type: "array", items: closed({ c: number }, ["c"]) } }, ["b"]) }, ["a"]),
      "a number at a.b[].c expected, a text comes from nodes.x.a.b[].c",
    ],
    [
      { anyOf: [text, { type: "null" }] },
      { oneOf: [number, { type: "boolean" }] },
      "a number or true or false expected",
    ],
    [
      { allOf: [{ type: ["string", "number"] }, { type: ["number", "null"] }] },
      text,
      "a text expected, a number comes",
    ],
    [{ $ref: "#/$defs/a", $defs: { a: text } }, number, "a number expected, a text comes"],
    [
      { anyOf: [closed({ a: text }), closed({ b: text })] },
      { type: "object", required: ["c"] },
      'an object with "c"',
    ],
  ])("W4 %j for %j", (source, target, words) => {
    expect(mismatch(source, target, "nodes.x")).toContain(words);
  });

  test.each<[JsonObject | null, JsonObject | null]>([
    [null, text],
    [text, null],
    [{}, text],
    [text, {}],
    [{ type: "integer" }, number],
    [number, { type: "integer" }],
    [{ type: ["string", "null"] }, text],
    [{ type: "string", nullable: true }, { type: "null" }],
    [text, { enum: ["a"] }],
    [{ enum: ["a", "b"] }, { enum: ["b", "c"] }],
    [closed({ a: text }), closed({ a: number })],
    [closed({ a: text }, ["a"]), closed({}, [])],
    [{ type: "object" }, closed({ a: text }, ["a"])],
    [
      { allOf: [{ properties: { a: text } }, { properties: { b: text } }] },
      { type: "object", required: ["a", "b"] },
    ],
    [{ anyOf: [closed({ a: text }), closed({ b: text })] }, { type: "object", required: ["a"] }],
    [{ type: "array" }, { type: "array", items: text }],
    [{ type: "strange" }, text],
    [{ type: "string", not: { const: "a" } }, { const: "a" }],
  ])("W4 %j may fit %j", (source, target) => {
    expect(mismatch(source, target)).toBeUndefined();
  });

  test("W4 without a word on where it comes from", () => {
    expect(mismatch(text, number)).toBe("a number expected, a text given");
  });
});

/** Schemas that say whether they allow other keys, and whose lists have entries: what is left unsaid is read strictly. */
const schemas = fc.letrec<{ schema: JsonObject }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom<JsonObject>(
      { type: "string" },
      { type: "integer" },
      { type: "number" },
      { type: ["string", "null"] },
      { type: "boolean" },
      { const: "a" },
      { enum: ["a", 1, null] },
      { enum: [1, 2.5] },
      { const: { a: 1, b: ["a"] } },
      {},
      { $ref: "#/$defs/shared" },
    ),
    fc.record({ type: fc.constant("array"), minItems: fc.constant(1), items: tie("schema") }),
    fc.record({
      type: fc.constant("array"),
      minItems: fc.constant(2),
      prefixItems: fc.tuple(tie("schema"), tie("schema")),
    }),
    fc.record({
      type: fc.constant("object"),
      properties: fc.dictionary(fc.constantFrom("a", "b", "c"), tie("schema")),
      required: fc.subarray(["a", "b", "c"]),
      additionalProperties: fc.oneof(fc.boolean(), tie("schema")),
    }),
    fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }),
    fc.record({ oneOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }) }),
    fc.record({ allOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }) }),
  ),
})).schema;

const whole = fc.tuple(schemas, schemas).map(([schema, shared]): JsonObject => {
  const plain = JSON.parse(JSON.stringify(shared).replaceAll('{"$ref":"#/$defs/shared"}', "{}"));
  return { ...schema, $defs: { shared: plain } };
});

const entries = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom<Json>("a", "b", 1, 2, 2.5, true, null),
    fc.array(tie("value"), { minLength: 1, maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "b", "c", "d"), tie("value")),
  ),
})).value;

test("W4 what is said not to fit never does", () => {
  let both = 0;
  let told = 0;
  fc.assert(
    fc.property(
      whole,
      whole,
      fc.array(entries, { minLength: 5, maxLength: 20 }),
      (source, target, values) => {
        const problem = mismatch(source, target);
        if (problem !== undefined) told++;
        const [fitsSource, fitsTarget] = [checkerOf(source), checkerOf(target)];
        const fitting = values.filter((value) => fitsSource(value) && fitsTarget(value));
        both += fitting.length;
        if (problem !== undefined) expect(fitting).toEqual([]);
      },
    ),
    { numRuns: 250 },
  );
  expect(both).toBeGreaterThan(0);
  expect(told).toBeGreaterThan(0);
});

test("W4 the schema at a path is one that the part there fits, and what is there is never missing", () => {
  let known = 0;
  fc.assert(
    fc.property(whole, fc.array(entries, { minLength: 5, maxLength: 12 }), (schema, values) => {
      for (const value of values.filter(checkerOf(schema)))
        for (const { path, part } of partsOf(value)) {
          const found = schemaAt(schema, path);
          if (found === "any") continue;
          expect(found).not.toHaveProperty("missing");
          if ("known" in found) {
            known++;
            expect(fits(found.known, part)).toBe(true);
          }
        }
    }),
    { numRuns: 150 },
  );
  expect(known).toBeGreaterThan(0);
});

describe("W4 hostile schemas", () => {
  const nested = (levels: number, around: (inner: JsonObject) => JsonObject) => {
    let schema: JsonObject = text;
    for (let i = 0; i < levels; i++) schema = around(schema);
    return schema;
  };

  test.each<[string, JsonObject]>([
    ["alternatives that double at every level", nested(40, (inner) => ({ anyOf: [inner, inner] }))],
    [
      "demands that double at every level",
      nested(40, (inner) => ({ allOf: [inner, inner], oneOf: [inner, inner] })),
    ],
    [
      "properties that double at every level",
      nested(40, (inner) => closed({ a: inner, b: inner }, ["a", "b"])),
    ],
    ["very many levels", nested(20_000, (inner) => closed({ a: inner }, ["a"]))],
    ["very many levels of alternatives", nested(20_000, (inner) => ({ anyOf: [inner] }))],
    ["very many levels of lists", nested(20_000, (inner) => ({ type: "array", items: inner }))],
    ["a reference to itself", { $ref: "#" }],
    [
      "references in a circle",
      { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } },
    ],
    ["a tree of itself", { ...closed({ a: { $ref: "#" }, b: { $ref: "#" } }, ["a", "b"]) }],
    ["alternatives of itself", { anyOf: [{ $ref: "#" }, { $ref: "#" }, { $ref: "#" }] }],
    ["a huge enum", { enum: Array.from({ length: 100_000 }, (_, i) => i) }],
    [
      "twenty thousand properties",
      closed(Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, text]))),
    ],
    [
      "keywords of the wrong kind",
      { type: 5, properties: [], required: {}, anyOf: "x", allOf: [1, null], enum: {}, $ref: [] },
    ],
    [
      "a prototype's keys",
      JSON.parse('{"properties":{"__proto__":{"type":"string"}},"required":["__proto__","constructor"]}'),
    ],
  ])("W4 %s", (_, schema) => {
    const path = Array.from({ length: 30 }, () => "a");
    for (const one of [[], ["a"], path, [...path, 0], ["__proto__"], ["k19999"]]) {
      const found = schemaAt(schema, one);
      expect(found).toBeDefined();
      if (found !== "any" && "missing" in found) expect(found.missing.length).toBeLessThan(2_000);
    }
    for (const other of [text, schema, { type: "array", items: text }, closed({ a: number }, ["a"])]) {
      expect((mismatch(schema, other) ?? "").length).toBeLessThan(2_000);
      expect((mismatch(other, schema) ?? "").length).toBeLessThan(2_000);
    }
  });
});

function partsOf(
  value: Json,
  path: readonly (string | number)[] = [],
): { path: readonly (string | number)[]; part: Json }[] {
  const here = { path, part: value };
  if (typeof value !== "object" || value === null) return [here];
  const inner = Array.isArray(value)
    ? value.flatMap((one: Json, i) => partsOf(one, [...path, i]))
    : Object.entries(value).flatMap(([key, one]) => partsOf(one, [...path, key]));
  return [here, ...inner];
}
