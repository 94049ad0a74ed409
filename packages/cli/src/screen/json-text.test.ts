import fc from "fast-check";
import type { Json } from "trackside";
import { expect, test } from "vitest";
import { jsonText } from "./json-text.ts";

test("what fits stands on one line", () => {
  expect(jsonText({ a: 1, b: [true, null], c: {} }, 80)).toBe('{"a": 1, "b": [true, null], "c": {}}');
});

test("what does not is broken from the outside in", () => {
  const value = [{ name: "checkout", state: "degraded" }, { name: "search" }];
  expect(jsonText(value, 44)).toBe(
    '[\n  {"name": "checkout", "state": "degraded"},\n  {"name": "search"}\n]',
  );
});

test("it is the same JSON at any width, strings with brackets and line breaks included", () => {
  const text = fc.string({ unit: fc.constantFrom("{", "}", "[", "]", ",", '"', "\n", " ", "a", ":") });
  const json = fc.letrec((tie) => ({
    value: fc.oneof(
      fc.integer(),
      text,
      fc.constant(null),
      fc.array(tie("value")),
      fc.dictionary(text, tie("value")),
    ),
  })).value;
  fc.assert(
    fc.property(json, fc.nat({ max: 60 }), (value, width) => {
      expect(JSON.parse(jsonText(value as Json, width))).toEqual(value);
    }),
  );
});

test("no depth of nesting is too deep", () => {
  let value: Json = 1;
  for (let i = 0; i < 300; i++) value = [value];
  expect(JSON.parse(jsonText(value, 10))).toEqual(value);
});
