import { Validator } from "@cfworker/json-schema";
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

const person = {
  type: "object",
  properties: { name: { type: "string", minLength: 1 }, age: { type: "integer", minimum: 0 } },
  required: ["name"],
  additionalProperties: false,
};

describe("S5 a schema that a model wrote", () => {
  test("S5 accepts what fits, as a copy, and keeps itself frozen", async () => {
    const value = { name: "Ada", age: 36 };
    const checked = await check(person, value);
    expect(checked).toEqual({ ok: true, value });
    expect(checked.ok && checked.value).not.toBe(value);
    const read = readUntrustedSchema(person);
    expect(read.ok && read.schema.jsonSchema).toEqual(person);
    expect(read.ok && Object.isFrozen(read.schema.jsonSchema["properties"])).toBe(true);
  });

  test("S5 says what is wrong in the value, where, and what is allowed", () => {
    expect(check({ type: "array", items: person }, [{ name: "" }, { age: -1.5, x: 1 }])).toEqual({
      ok: false,
      problem:
        '[0].name: a text of at least 1 characters expected, "" given; [1].name: required, and missing; ' +
        "[1].age: a whole number expected, -1.5 given; [1].age: a number of at least 0 expected, -1.5 given; " +
        '[1]: no property "x" expected, only name, age',
    });
  });

  test("S5 tells of the form that came nearest", () => {
    const forms = { anyOf: [{ type: "null" }, person, { type: "string" }] };
    expect(check(forms, { name: 3 })).toMatchObject({ problem: "name: a text expected, 3 given" });
    expect(check(forms, 3)).toMatchObject({
      problem: "none of 3 forms fits (null; an object; a text)",
    });
    const cases = { oneOf: [{ type: "number" }, { minimum: 3 }] };
    expect(check(cases, 4)).toMatchObject({ problem: "only one form of `oneOf` may fit, and 0 and 1 do" });
  });

  test.each<[string, Json]>([
    ["a text", "x"],
    ["a number", 3],
    ["null", null],
    ["a list", [1, 2]],
  ])("S5 may be of any type: %s", (_, value) => {
    expect(check({ const: value }, value)).toEqual({ ok: true, value });
  });

  test("S5 ignores keywords it does not know, and never checks formats", () => {
    expect(
      check({ type: "string", format: "email", "x-note": { $ref: 5 }, nullable: true }, "no mail"),
    ).toMatchObject({
      ok: true,
    });
  });

  test("S5 reads draft 7 as well", () => {
    const schema = {
      definitions: { n: { type: "number" } },
      items: [{ $ref: "#/definitions/n" }],
      additionalItems: false,
      dependencies: { a: ["b"], c: { required: ["d"] } },
    };
    expect(check(schema, [1])).toMatchObject({ ok: true });
    expect(check(schema, [1, 2])).toMatchObject({ ok: false });
    expect(check(schema, { a: 1 })).toMatchObject({ ok: false });
    expect(check(schema, { c: 1, d: 2 })).toMatchObject({ ok: true });
    expect(check(schema, { c: 1 })).toMatchObject({ ok: false });
  });

  test("S5 may describe trees of any depth a value can have", () => {
    const tree = {
      $defs: { t: { type: "object", properties: { of: { $ref: "#/$defs/t" } } } },
      $ref: "#/$defs/t",
    };
    let value: Json = {};
    for (let i = 0; i < 98; i++) value = { of: value };
    expect(check(tree, value)).toMatchObject({ ok: true });
    expect(check({ type: "object", properties: { of: { $ref: "#" } } }, { of: { of: 3 } })).toMatchObject({
      problem: "of.of: an object expected, 3 given",
    });
  });

  test("S5 answers like a checker of trusted schemas", () => {
    fc.assert(
      fc.property(schemas, values, (schema, value) => {
        const trusted = new Validator(JSON.parse(JSON.stringify(schema)), "2020-12", true).validate(
          value,
        ).valid;
        expect(check(schema, value)).toMatchObject({ ok: trusted });
      }),
      { numRuns: 1000 },
    );
  });
});

const leaves = fc.constantFrom<Json>(null, true, 0, 1, 2, -1, 1.5, "", "a", "ab", "😀b");
const { value: values } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    leaves,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "b", "ab"), tie("value"), { maxKeys: 3, noNullPrototype: true }),
  ),
}));

const count = fc.nat({ max: 3 });
const name = fc.constantFrom("a", "b", "ab");
const types = fc.constantFrom("null", "boolean", "integer", "number", "string", "array", "object");
const { schema: schemas } = fc.letrec<{ schema: JsonObject; inner: Json }>((tie) => {
  const inner = tie("inner");
  const some = fc.array(inner, { minLength: 1, maxLength: 3 });
  const named = fc.dictionary(name, inner, { maxKeys: 2, noNullPrototype: true });
  const names = fc.uniqueArray(name, { maxLength: 2 });
  const keywords = {
    type: fc.oneof(types, fc.uniqueArray(types, { minLength: 1, maxLength: 3 })),
    enum: fc.array(values, { minLength: 1, maxLength: 3 }),
    const: values,
    minimum: count,
    exclusiveMaximum: count,
    multipleOf: fc.constantFrom(1, 0.5, 0.1, 2),
    minLength: count,
    maxLength: count,
    pattern: fc.constantFrom("^a", "b$", "^.$", "[^a]"),
    items: inner,
    prefixItems: some,
    contains: inner,
    minContains: count,
    maxContains: count,
    minItems: count,
    maxItems: count,
    uniqueItems: fc.boolean(),
    properties: named,
    patternProperties: fc.dictionary(fc.constantFrom("^a", "b$"), inner, {
      maxKeys: 2,
      noNullPrototype: true,
    }),
    additionalProperties: inner,
    propertyNames: inner,
    required: names,
    minProperties: count,
    maxProperties: count,
    dependentRequired: fc.dictionary(name, names, { maxKeys: 2, noNullPrototype: true }),
    dependentSchemas: named,
    allOf: some,
    anyOf: some,
    oneOf: some,
    not: inner,
    if: inner,
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: inner,
    else: inner,
  };
  const one = fc
    .constantFrom(...Object.entries(keywords))
    .chain(([key, value]) => value.map((made): [string, Json] => [key, made]));
  return {
    inner: fc.oneof(
      { maxDepth: 3 },
      fc.boolean(),
      types.map((type) => ({ type })),
      tie("schema"),
    ),
    schema: fc.array(one, { maxLength: 4 }).map((entries): JsonObject => Object.fromEntries(entries)),
  };
});
