import fc from "fast-check";
import type { Json } from "trackside";
import { expect, test } from "vitest";
import { changesBetween } from "./changes.ts";

test("a change is told where it is, as deep inside as it goes", () => {
  const before = { service: "a", tags: ["x", "y"], deep: { "odd key": 1, same: true }, gone: null };
  const after = { service: "b", tags: ["x"], deep: { "odd key": 2, same: true }, added: {} };
  expect(changesBetween(before, after)).toEqual([
    { path: "service", before: "a", after: "b" },
    { path: "tags[1]", before: "y" },
    { path: 'deep."odd key"', before: 1, after: 2 },
    { path: "gone", before: null },
    { path: "added", after: {} },
  ]);
});

test("a value of another kind is one change", () => {
  expect(changesBetween({ a: [1] }, { a: { 0: 1 } })).toEqual([{ path: "a", before: [1], after: { 0: 1 } }]);
  expect(changesBetween({ a: null }, { a: [] })).toEqual([{ path: "a", before: null, after: [] }]);
});

test("what every object has is not mistaken for what this one has", () => {
  const after: Json = JSON.parse('{"__proto__": 1, "constructor": 2}');
  expect(changesBetween({}, after)).toEqual([
    { path: "__proto__", after: 1 },
    { path: "constructor", after: 2 },
  ]);
});

test("there are none exactly when the two are the same, however their keys are ordered", () => {
  const ordered = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map(ordered);
    const entries = Object.entries(value).map(([key, inner]) => [key, ordered(inner)] as const);
    return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
  };
  const json = fc.jsonValue({ maxDepth: 3 }).map((value): Json => JSON.parse(JSON.stringify(value)));
  fc.assert(
    fc.property(json, json, (a, b) => {
      const isSame = JSON.stringify(ordered(a)) === JSON.stringify(ordered(b));
      expect(changesBetween(a, b).length === 0).toBe(isSame);
      expect(changesBetween(a, a)).toEqual([]);
    }),
  );
});
