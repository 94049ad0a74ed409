import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../schema/json.ts";
import type { Comparison, Condition } from "../schema/workflow.ts";
import { decide, isEqual } from "./condition.ts";
import type { Values } from "./template.ts";

const values: Values = {
  input: { n: 3, text: "abc", list: [1, { a: [2] }, "x"], object: { key: null }, nothing: null, blank: "" },
  node: () => undefined,
};

function told(condition: Condition): boolean | string {
  const decided = decide(condition, values);
  return decided.ok ? decided.value : decided.problem;
}

describe("W4 conditions compare", () => {
  test.each<[Json, Comparison, Json, boolean]>([
    ["{{ input.n }}", "==", 3, true],
    ["{{ input.n }}", "==", "3", false],
    ["{{ input.n }}", "!=", 3, false],
    ["{{ input.list }}", "==", [1, { a: [2] }, "x"], true],
    ["{{ input.list }}", "==", [1, { a: [2] }], false],
    [{ a: 1, b: "{{ input.n }}" }, "==", { b: 3, a: 1 }, true],
    [{ a: 1 }, "==", { b: 1 }, false],
    [null, "==", "{{ input.nothing }}", true],
    [[], "==", {}, false],
    ["{{ input.n }}", ">", 2.5, true],
    ["{{ input.n }}", ">=", 3, true],
    ["{{ input.n }}", "<", 3, false],
    ["{{ input.n }}", "<=", 3, true],
    ["b", ">", "{{ input.text }}", true],
    ["a", "<", "b", true],
    ["{{ input.text }}", "contains", "bc", true],
    ["{{ input.text }}", "contains", "", true],
    ["{{ input.text }}", "contains", "cb", false],
    ["{{ input.list }}", "contains", { a: [2] }, true],
    ["{{ input.list }}", "contains", { a: [3] }, false],
    ["{{ input.object }}", "contains", "key", true],
    ["{{ input.object }}", "contains", "toString", false],
    ["{{ input.nothing }}", "contains", "x", false],
    ["bc", "in", "{{ input.text }}", true],
    [1, "in", "{{ input.list }}", true],
    ["key", "in", "{{ input.object }}", true],
    ["x", "in", "{{ input.absent? }}", false],
  ])("%j %s %j is %s", (left, op, right, value) => {
    expect(told({ left, op, right })).toBe(value);
  });

  test.each<[Json, "exists" | "empty", boolean]>([
    ["{{ input.n }}", "exists", true],
    ["{{ input.blank }}", "exists", true],
    ["{{ input.nothing }}", "exists", false],
    ["{{ input.absent.deeper }}", "exists", false],
    ["{{ nodes.skipped }}", "exists", false],
    ["{{ nodes.skipped.x }}", "empty", true],
    ["{{ input.blank }}", "empty", true],
    ["{{ input.nothing }}", "empty", true],
    [[], "empty", true],
    [{}, "empty", true],
    [0, "empty", false],
    [false, "empty", false],
    ["{{ input.list }}", "empty", false],
    ["{{ input.object }}", "empty", false],
  ])("%j %s is %s", (left, op, value) => {
    expect(told({ left, op })).toBe(value);
  });
});

describe("W4 what cannot be compared is a problem that says why", () => {
  test.each<[Json, Comparison, Json | undefined, string]>([
    [
      "{{ input.n }}",
      ">",
      "3",
      "two numbers or two texts expected, a number on the left and a text on the right given",
    ],
    [null, "<", 1, "null on the left and a number on the right"],
    [[1], ">=", [0], "a list on the left and a list on the right"],
    [true, "<=", {}, "true or false on the left and an object on the right"],
    [
      "{{ input.n }}",
      "contains",
      3,
      "a list, a text or an object to look into expected, a number on the left",
    ],
    ["{{ input.text }}", "contains", 3, "a text to look for in a text expected"],
    [
      3,
      "in",
      "{{ input.object }}",
      "a text to look for in an object's keys expected, an object on the right and a number on the left",
    ],
    ["{{ input.absent }}", "==", 1, 'there is no "absent"'],
    [1, "==", "{{ input.absent }}", 'there is no "absent"'],
    ["{{ input. }}", "exists", undefined, "a name expected"],
    [1, "==", undefined, "a right side expected"],
  ])("%j %s %j", (left, op, right, problem) => {
    expect(told({ left, op, right })).toContain(problem);
  });
});

describe("W4 conditions are put together", () => {
  const yes: Condition = { left: 1, op: "==", right: 1 };
  const no: Condition = { not: yes };
  const broken: Condition = { left: 1, op: "<", right: "1" };

  test("W4 all, any and not", () => {
    expect(told({ all: [yes, yes] })).toBe(true);
    expect(told({ all: [yes, no] })).toBe(false);
    expect(told({ any: [no, yes] })).toBe(true);
    expect(told({ any: [no, no] })).toBe(false);
    expect(told({ not: { any: [no, { all: [yes, no] }] } })).toBe(true);
  });

  test("W4 they look no further than they have to", () => {
    expect(told({ all: [no, broken] })).toBe(false);
    expect(told({ any: [yes, broken] })).toBe(true);
    expect(told({ all: [yes, broken] })).toContain("two numbers or two texts");
    expect(told({ not: broken })).toContain("two numbers or two texts");
  });
});

describe("W4 equal is equal all the way down", () => {
  test("W4 a value equals its copy, whatever the order of its keys, and nothing else", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        // fast-check's values are JSON, by its own word
        const [a, b] = [one as Json, other as Json];
        expect(isEqual(a, turned(a))).toBe(true);
        expect(isEqual(a, b)).toBe(isEqual(b, a));
        expect(isEqual([a, 0], [a, 1])).toBe(false);
      }),
    );
  });

  test("W4 of values twenty thousand levels deep too", () => {
    const deep = (end: Json) => Array.from({ length: 20_000 }).reduce<Json>((inner) => [inner], end);
    expect(isEqual(deep(1), deep(1))).toBe(true);
    expect(isEqual(deep(1), deep(2))).toBe(false);
  });

  test("W4 a key that only a prototype has is no key", () => {
    expect(isEqual({ toString: 1 }, { x: 1 })).toBe(false);
    expect(isEqual(JSON.parse('{"__proto__":1}'), { a: 1 })).toBe(false);
    expect(isEqual(JSON.parse('{"__proto__":1}'), JSON.parse('{"__proto__":1}'))).toBe(true);
  });
});

/** A copy with the keys the other way round. */
function turned(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(turned);
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, turned(inner)]),
  );
}
