import type { Json, JsonObject } from "trackside/schema";
import { describe, expect, test } from "vitest";
import { draftOf, type Field, formOf, readValue, typedText, UNSAID } from "./schema-form.ts";

const patterns = { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" }, minItems: 1 }] };
const schema: JsonObject = {
  type: "object",
  properties: {
    text: { type: "string" },
    replaced: { type: "string", default: "[REDACTED]" },
    count: { type: "integer", default: 3 },
    on: { type: "boolean" },
    model: { const: true },
    action: { enum: ["ask", "abort"] },
    kinds: { type: "array", items: { enum: ["a", "b"] } },
    images: { type: "array", items: { type: "string" } },
    tools: patterns,
    limits: { type: "object", additionalProperties: { type: "integer" } },
    rules: {
      type: "array",
      items: { type: "object", properties: { tools: patterns, n: { type: "number" } } },
    },
    nested: { type: "object", properties: { a: { type: "string" } } },
    perhaps: { type: ["string", "null"] },
    anything: {},
  },
};
const form = formOf(schema);

function named(key: string): Field {
  const found = form.kind === "group" ? form.fields.find(({ path }) => path[0] === key) : undefined;
  if (found === undefined) throw new Error(`there is no ${key}`);
  return found;
}

describe("whoever opens a form and saves it has changed nothing", () => {
  test.each<[string, Json]>([
    ["nothing at all", {}],
    ["plain values, in their order", { on: false, text: "a", count: 0, action: "ask", model: true }],
    ["what is empty", { text: "", replaced: "", images: [], kinds: [], limits: {}, nested: {}, rules: [{}] }],
    ["a default that was written out", { count: 3, replaced: "[REDACTED]" }],
    [
      "one that stands alone, and a list of one",
      { tools: "a", rules: [{ tools: ["b"], n: 0.5 }, { tools: "c" }] },
    ],
    ["null where it may be", { perhaps: null, anything: null }],
    ["keys that the form does not know", { text: "a", more: { deep: [1] }, constructor: "c" }],
    [
      "values that the fields cannot show",
      { text: 5, count: "many", on: "yes", action: "else", kinds: ["c"], tools: 7 },
    ],
    ["objects and lists in the wrong place", { nested: [1], rules: { a: 1 }, limits: ["x"], images: "none" }],
    ["null in the wrong place", { text: null, nested: null, rules: [null] }],
    ["names by the entry", { limits: { "get_*": 1, "a.b": 2 } }],
    ["something else than an object", [1, 2]],
  ])("%s", (_, value) => {
    const read = readValue(form, draftOf(form, value));
    expect(read.problems).toEqual([]);
    expect(JSON.stringify(read.value)).toBe(JSON.stringify(value));
  });

  test("a key named __proto__ stays a key", () => {
    const value: Json = JSON.parse('{"limits":{"__proto__":1},"__proto__":{"x":1}}');
    expect(JSON.stringify(readValue(form, draftOf(form, value)).value)).toBe(
      JSON.stringify({ limits: JSON.parse('{"__proto__":1}') }).replace(/\}$/, ',"__proto__":{"x":1}}'),
    );
  });
});

test.each<[string, string, Json | undefined]>([
  ["text", "", undefined],
  ["replaced", "", ""],
  ["count", " ", undefined],
  ["count", " 12 ", 12],
  ["count", "-1.5e3", -1500],
  ["count", ".5", 0.5],
])("%s with %j typed says %j", (key, text, value) => {
  expect(readValue(named(key), { as: "text", text })).toEqual({ value, problems: [] });
});

test.each(["many", "1,5", "0x10", "1e999", "Infinity", "--1", "1 2"])("%j is no number", (text) => {
  expect(readValue(named("count"), { as: "text", text })).toEqual({
    value: undefined,
    problems: [{ path: ["count"], message: "has to be a number, such as 12 or 0.5" }],
  });
});

test("JSON that is not finished is told, and the rest is read", () => {
  const draft = draftOf(form, { text: "a" });
  if (draft.as !== "group") throw new Error("no group");
  const typed = { ...draft, fields: { ...draft.fields, anything: { as: "json", text: "{" } as const } };
  const { value, problems } = readValue(form, typed);
  expect(value).toEqual({ text: "a" });
  expect(problems).toMatchObject([
    { path: ["anything"], message: expect.stringMatching(/^is not valid JSON: ./) },
  ]);
});

test("a switch with one value says nothing in its other position", () => {
  expect(readValue(named("model"), { as: "value", value: false }).value).toBeUndefined();
  expect(readValue(named("model"), { as: "value", value: true }).value).toBe(true);
  expect(readValue(named("on"), { as: "value", value: false }).value).toBe(false);
});

test("a list that may not be empty says nothing when it is, one that may be says so", () => {
  expect(readValue(named("tools"), { as: "list", entries: [], alone: false }).value).toBeUndefined();
  expect(readValue(named("images"), { as: "list", entries: [], alone: false }).value).toEqual([]);
  expect(readValue(named("images"), UNSAID).value).toBeUndefined();
});

test("one that stood alone becomes a list with a second", () => {
  const [a, b] = ["a", "b"].map((text) => ({ as: "text", text }) as const);
  if (!a || !b) throw new Error("never");
  expect(readValue(named("tools"), { as: "list", entries: [a], alone: true }).value).toBe("a");
  expect(readValue(named("tools"), { as: "list", entries: [a, b], alone: true }).value).toEqual(["a", "b"]);
});

test("an entry of a list that is empty or wrong is told by its place", () => {
  const entries = [UNSAID, { as: "group", fields: { n: { as: "text", text: "x" } }, rest: {} }] as const;
  const { problems } = readValue(named("rules"), { as: "list", entries, alone: false });
  expect(problems.map(({ path }) => path)).toEqual([
    ["rules", 0],
    ["rules", 1, "n"],
  ]);
});

test("names of a map are there once and not empty", () => {
  const draft = { as: "text", text: "1" } as const;
  const entries = ["a", "a", ""].map((name) => ({ name, draft }));
  expect(readValue(named("limits"), { as: "map", entries }).problems).toEqual([
    { path: ["limits", "a"], message: "is there twice: a" },
    { path: ["limits"], message: "needs a name for entry 3" },
  ]);
});

test("what has to be there is open from the start, what need not be is not", () => {
  const inner = { type: "object", properties: { a: { type: "string" } } };
  const both = formOf({ type: "object", properties: { must: inner, may: inner }, required: ["must"] });
  expect(draftOf(both)).toMatchObject({ fields: { must: { as: "group" }, may: { as: "unsaid" } } });
  expect(readValue(both, draftOf(both)).value).toEqual({ must: {} });
});

test("what stands in an input", () => {
  expect(typedText(draftOf(named("text"), "a"))).toBe("a");
  expect(typedText(draftOf(named("text"), ""))).toBe("");
  expect(typedText(draftOf(named("count"), 12))).toBe("12");
  expect(typedText(draftOf(named("anything"), { a: 1 }))).toBe('{\n  "a": 1\n}');
  expect(typedText(UNSAID)).toBe("");
});
