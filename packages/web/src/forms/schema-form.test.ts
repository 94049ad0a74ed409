import type { Json, JsonObject } from "trackside/schema";
import { describe, expect, test } from "vitest";
import { type Field, formOf, pathText, placed } from "./schema-form.ts";

/** The form of one property. */
function field(schema: JsonObject, key = "x", more: JsonObject = {}): Field {
  const form = formOf({ type: "object", properties: { [key]: schema }, ...more });
  const [only] = form.kind === "group" ? form.fields : [];
  if (only === undefined) throw new Error("there is no field");
  return only;
}

const tool = { type: "string", pattern: "^[a-z_*]+$" };

test.each<[string, JsonObject, string]>([
  ["a text", { type: "string" }, "text"],
  ["a text with lines in its default", { type: "string", default: "a\nb" }, "multiline"],
  ["a whole number", { type: "integer" }, "number"],
  ["a number", { type: "number" }, "number"],
  ["yes or no", { type: "boolean" }, "switch"],
  ["yes and nothing else", { type: "boolean", const: true }, "switch"],
  ["one of some values", { enum: ["a", 1, null] }, "select"],
  ["constants to choose from", { oneOf: [{ const: "a", title: "A" }, { const: "b" }] }, "select"],
  ["some of some values", { type: "array", items: { enum: ["a", "b"] } }, "multi-select"],
  [
    "one or some of some values",
    { anyOf: [{ enum: ["a"] }, { type: "array", items: { enum: ["a"] } }] },
    "multi-select",
  ],
  ["a list of texts", { type: "array", items: { type: "string" } }, "list"],
  ["one text or a list", { anyOf: [tool, { type: "array", items: tool, minItems: 1 }] }, "list"],
  ["a list of objects", { type: "array", items: { type: "object", properties: { a: tool } } }, "list"],
  ["an object", { type: "object", properties: { a: { type: "string" } } }, "group"],
  ["numbers by name", { type: "object", additionalProperties: { type: "integer" } }, "map"],
  ["a text or null", { anyOf: [{ type: "string" }, { type: "null" }] }, "text"],
  ["a number or null", { type: ["number", "null"] }, "number"],
  ["anything", {}, "json"],
  ["an object of any form", { type: "object" }, "json"],
  ["two types", { type: ["string", "number"] }, "json"],
  ["a text or an object", { anyOf: [{ type: "string" }, { type: "object", properties: { a: {} } }] }, "json"],
  ["a tuple", { type: "array", prefixItems: [{ type: "string" }], items: { type: "string" } }, "json"],
  ["a list of anything", { type: "array" }, "json"],
  [
    "named fields and free ones",
    { type: "object", properties: { a: {} }, additionalProperties: tool },
    "json",
  ],
  ["a reference to nowhere", { $ref: "#/$defs/none" }, "json"],
  ["a reference to elsewhere", { $ref: "https://example.com/schema" }, "json"],
])("%s: %j is a %s field", (_, schema, kind) => {
  expect(field(schema).kind).toBe(kind);
});

test("a field says what its schema says", () => {
  const schema = { type: "integer", description: "How often.", default: 3, minimum: 1, maximum: 9 };
  expect(field(schema, "maxRetries", { required: ["maxRetries"] })).toMatchObject({
    path: ["maxRetries"],
    label: "Max retries",
    description: "How often.",
    default: 3,
    required: true,
    minimum: 1,
    maximum: 9,
    step: 1,
  });
  expect(field({ type: "string", minLength: 1, maxLength: 5, pattern: "a", format: "email" })).toMatchObject({
    required: false,
    minLength: 1,
    maxLength: 5,
    pattern: "a",
    format: "email",
  });
});

test.each([
  ["max_tokens", "Max tokens"],
  ["onFail", "On fail"],
  ["userID", "User ID"],
  ["x-y", "X y"],
])("%s is called %s", (key, label) => {
  expect(field({ type: "string" }, key).label).toBe(label);
  expect(field({ type: "string", title: "Mine" }, key).label).toBe("Mine");
});

test("limits that every whole number keeps are not shown", () => {
  const schema = { type: "integer", minimum: -Number.MAX_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
  expect(field(schema)).toMatchObject({ minimum: undefined, maximum: undefined });
});

test("choices have names and descriptions of their own", () => {
  const schema = { oneOf: [{ const: "a", title: "The first", description: "Best." }, { const: "" }] };
  expect(field(schema)).toMatchObject({
    choices: [
      { value: "a", label: "The first", description: "Best." },
      { value: "", label: '""' },
    ],
  });
});

test("null makes no field of its own, and what stands beside it counts", () => {
  const schema = {
    description: "Perhaps.",
    anyOf: [{ type: "string", maxLength: 3 }, { type: "null" }],
    default: null,
  };
  expect(field(schema)).toMatchObject({
    kind: "text",
    nullable: true,
    maxLength: 3,
    description: "Perhaps.",
    default: null,
  });
});

test("conditions on an object leave it a group", () => {
  const schema = {
    type: "object",
    properties: { a: { type: "string" }, b: { type: "string" } },
    anyOf: [{ required: ["a"] }, { required: ["b"] }],
    not: { required: ["a", "b"] },
  };
  expect(formOf(schema)).toMatchObject({ kind: "group", fields: [{ kind: "text" }, { kind: "text" }] });
});

test("a property that may be anything has a field, one that is forbidden has none", () => {
  const form = formOf({ type: "object", properties: { any: true, never: false } });
  expect(form).toMatchObject({ kind: "group", fields: [{ kind: "json", path: ["any"] }] });
});

describe("references", () => {
  test("are followed, and what stands beside them counts", () => {
    const $defs = { name: { type: "string", description: "A name.", maxLength: 9 } };
    expect(field({ $ref: "#/$defs/name", description: "Mine." }, "x", { $defs })).toMatchObject({
      kind: "text",
      description: "Mine.",
      maxLength: 9,
    });
  });

  test("that lead back end in JSON", () => {
    const node: JsonObject = {
      type: "object",
      properties: { name: { type: "string" }, children: { type: "array", items: { $ref: "#/$defs/node" } } },
    };
    const form = formOf({ $defs: { node }, $ref: "#/$defs/node" });
    expect(form.kind).toBe("group");
    expect(JSON.stringify(form)).toContain('"kind":"json"');
    expect(formOf({ $defs: { a: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" }).kind).toBe("json");
  });
});

test("the template of a list is put in its place, with everything below it", () => {
  const rules: Json = {
    type: "array",
    items: { type: "object", properties: { tools: { type: "array", items: tool } } },
  };
  const list = field(rules, "rules");
  if (list.kind !== "list") throw new Error("no list");
  const second = placed(list.item, ["rules", 1]);
  const [tools] = second.kind === "group" ? second.fields : [];
  expect(pathText(tools?.path ?? [])).toBe("rules[1].tools");
  expect(tools?.kind === "list" && tools.item.path).toEqual(["rules", 1, "tools", "*"]);
});
