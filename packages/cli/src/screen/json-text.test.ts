import fc from "fast-check";
import type { Json } from "trackside";
import { expect, test } from "vitest";
import { escapeHidden, exactJson, jsonText } from "./json-text.ts";

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

const HIDDEN = /[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
const anything = fc.string({
  unit: fc.oneof(
    fc.nat({ max: 0x2070 }).map((code) => String.fromCharCode(code)),
    fc.constantFrom("\u{e0041}", "\ufe0f", "\\", "\n", "\u3164"),
  ),
});

test("what is hidden is written as an escape, and it stays the same JSON", () => {
  fc.assert(
    fc.property(anything, (text) => {
      const json = escapeHidden(JSON.stringify({ text }));
      expect(json).not.toMatch(HIDDEN);
      expect(JSON.parse(json)).toEqual({ text });
    }),
  );
});

test("for a decision the lines of a text stand below each other, and nothing is lost", () => {
  expect(exactJson({ script: "cd /tmp\nrm -rf x\\n\n" }, 80)).toBe(
    '{"script": "cd /tmp\\n\n    rm -rf x\\\\n\\n\n    "}',
  );
  fc.assert(
    fc.property(anything, fc.nat({ max: 60 }), (text, width) => {
      const exact = exactJson({ a: [text] }, width);
      expect(JSON.parse(exact.replaceAll(/\\n\n */g, "\\n"))).toEqual({
        a: [text.replaceAll(/\n +/g, "\n")],
      });
    }),
  );
});
