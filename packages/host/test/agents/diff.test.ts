import { expect, test } from "vitest";
import { diffDefinitions } from "../../src/agents/diff.ts";

test("a diff names each place once: what was added, what was removed, what changed", () => {
  const before = { a: 1, gone: { deep: true }, same: [1, 2], nested: { x: "old", y: null } };
  const after = { a: 2, same: [1, 2], nested: { x: "new", y: null, z: [] }, come: false };
  expect(diffDefinitions(before, after)).toEqual([
    { path: "a", kind: "changed", before: 1, after: 2 },
    { path: "gone", kind: "removed", before: { deep: true } },
    { path: "nested.x", kind: "changed", before: "old", after: "new" },
    { path: "nested.z", kind: "added", after: [] },
    { path: "come", kind: "added", after: false },
  ]);
});

test("items of a list are known by their names: one put in front is one change, not one for each", () => {
  const pii = { use: "pii", options: { redact: true } };
  const before = { tools: ["a", "b", "c"], rails: [pii, { use: "short" }] };
  const after = {
    tools: ["new", "a", "c"],
    rails: [{ use: "first" }, { ...pii, options: { redact: false } }],
  };
  expect(diffDefinitions(before, after)).toEqual([
    { path: "tools[0]", kind: "added", after: "new" },
    { path: "tools[1]", kind: "removed", before: "b" },
    { path: "rails[0]", kind: "added", after: { use: "first" } },
    { path: "rails[1].options.redact", kind: "changed", before: true, after: false },
    { path: "rails[1]", kind: "removed", before: { use: "short" } },
  ]);
});

test("lists too long to be paired are one change", () => {
  const many = (n: number) => Array.from({ length: 2000 }, (_, i) => `tool ${i + n}`);
  expect(diffDefinitions({ tools: many(0) }, { tools: many(1) })).toMatchObject([
    { path: "tools", kind: "changed" },
  ]);
});

test("a list that became something else, and keys that objects have by nature, are told as they are", () => {
  const before = JSON.parse('{"x":[1],"injected_tool_args":{"toString":"a"}}');
  const after = JSON.parse('{"x":{"0":1},"injected_tool_args":{"__proto__":"b"}}');
  expect(diffDefinitions(before, after)).toEqual([
    { path: "x", kind: "changed", before: [1], after: { "0": 1 } },
    { path: "injected_tool_args.toString", kind: "removed", before: "a" },
    { path: "injected_tool_args.__proto__", kind: "added", after: "b" },
  ]);
  expect(diffDefinitions(before, before)).toEqual([]);
});
