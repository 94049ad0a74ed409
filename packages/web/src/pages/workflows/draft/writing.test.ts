import { expect, test } from "vitest";
import { completed, completionsOf, matching, openTemplateAt } from "./completions.ts";
import { pieceOf } from "./edit.ts";
import { newNode } from "./new-node.ts";
import { pieceIn, pieceText } from "./pasted-piece.ts";
import { fieldsOf, schemaOf } from "./simple-schema.ts";
import { readTyped, typedOf } from "./typed-value.ts";

test("a typed value is what it looks like, and comes back as it was", () => {
  for (const [text, value] of [
    ["12", 12],
    ["-0.5", -0.5],
    ["true", true],
    ["null", null],
    ['"12"', "12"],
    ["[1, 2]", [1, 2]],
    ["{{ input.x }}", "{{ input.x }}"],
    ["twelve", "twelve"],
    ["12 o'clock", "12 o'clock"],
    ["[half", "[half"],
    ["", ""],
  ] as const)
    expect(readTyped(text)).toEqual(value);
  for (const value of [12, "12", "true", "", "null ", '"quoted"', "{{ input.x }}", [1], { a: "b" }, false])
    expect(readTyped(typedOf(value))).toEqual(value);
});

const SCHEMA = {
  type: "object",
  properties: {
    service: { type: "string", description: "Which one." },
    size: { type: "string", enum: ["s", "m"] },
    count: { type: "integer" },
    odd: {},
  },
  required: ["service"],
};

test("rows and schemas go both ways; what rows cannot say is left alone", () => {
  const rows = fieldsOf(SCHEMA);
  expect(rows?.map(({ type }) => type)).toEqual(["text", "choice", "whole", "anything"]);
  expect(schemaOf(rows ?? [])).toEqual(SCHEMA);
  expect(fieldsOf(null)).toEqual([]);
  expect(schemaOf([])).toBeNull();
  expect(fieldsOf({ ...SCHEMA, minProperties: 1 })).toBeUndefined();
  expect(fieldsOf({ type: "object", properties: { a: { type: "string", pattern: "x" } } })).toBeUndefined();
});

test("completions name every path that is known", () => {
  const all = completionsOf([
    { path: "input", about: "", schema: SCHEMA },
    {
      path: "nodes.find",
      about: "Find",
      schema: {
        type: "array",
        items: { type: "object", properties: { "a key": { type: "number" } } },
      },
    },
    { path: "nodes.ask", about: "Ask", schema: undefined },
  ]);
  expect(all.map(({ path }) => path)).toEqual([
    "input",
    "input.service",
    "input.size",
    "input.count",
    "input.odd",
    "nodes.find",
    "nodes.find[0]",
    'nodes.find[0]["a key"]',
    "nodes.ask",
  ]);
  expect(matching(all, "serv").map(({ path }) => path)).toEqual(["input.service"]);
});

test("a choice replaces what was typed in the braces, and closes them", () => {
  const text = "Deploy {{ input.ser to {{ input.env }}";
  const open = openTemplateAt(text, 19);
  expect(open).toEqual({ typed: "input.ser", from: 7, to: 19 });
  expect(open && completed(text, open, "input.service")).toEqual({
    text: "Deploy {{ input.service }} to {{ input.env }}",
    caret: 26,
  });
  // Inside a reference that is whole it is replaced whole.
  expect(openTemplateAt("{{ input.env }}", 8)).toEqual({ typed: "input", from: 0, to: 15 });
  expect(openTemplateAt("{{ input.env }} and", 17)).toBeUndefined();
  expect(openTemplateAt("\\{{ in", 6)).toBeUndefined();
  expect(openTemplateAt("plain", 3)).toBeUndefined();
});

const KINDS = ["agent", "tool", "condition", "map", "approval", "wait", "workflow"] as const;

test("what was copied is what is pasted, of every kind", () => {
  const nodes = Object.fromEntries(KINDS.map((kind) => [kind, newNode(kind, { x: 0, y: 0 })]));
  const edges = [
    { from: "condition", to: "map", when: "true" as const },
    { from: "agent", to: "tool" },
  ];
  const piece = pieceOf({ name: "a", nodes, edges }, [...KINDS]);
  expect(pieceIn(pieceText(piece))).toEqual(piece);
});

test("whatever else is on the clipboard is left alone, and half a node is none", () => {
  for (const text of [
    "",
    "hello",
    '{"trackside_nodes":1}',
    '{"trackside_nodes":{"nodes":[],"edges":[]}}',
    "trackside_nodes {",
  ])
    expect(pieceIn(text)).toBeUndefined();
  const hostile = {
    __proto__: { kind: "agent" },
    "no id": newNode("wait", { x: 0, y: 0 }),
    strange: { kind: "constructor" },
    bare: { kind: "approval" },
    odd: { kind: "agent", agent: "a", prompt: 5 },
    deep: { kind: "condition", if: { all: [] } },
    far: { ...newNode("wait", { x: 0, y: 0 }), position: { x: null, y: 0 } },
  };
  const given = { nodes: { ...hostile, ok: newNode("wait", { x: 0, y: 0 }) }, edges: [{ from: 1 }, null] };
  expect(pieceIn(JSON.stringify({ trackside_nodes: given }))).toEqual({
    nodes: { ok: newNode("wait", { x: 0, y: 0 }) },
    edges: [],
  });
});
