import fc from "fast-check";
import { expect, test } from "vitest";
import { clean, cleanLine, jsonLine } from "./clean.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: that none is left is what is tested
const ANY_CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;
const anything = fc.string({ unit: fc.nat({ max: 0x2070 }).map((code) => String.fromCharCode(code)) });

test("no control character is left of any text, however it is cut", () => {
  fc.assert(
    fc.property(anything, fc.nat(), (text, at) => {
      expect(clean(text)).not.toMatch(ANY_CONTROL);
      expect(clean(text.slice(0, at)) + clean(text.slice(at))).toBe(clean(text));
    }),
  );
});

test("plain text, line breaks, tabs and emoji are left alone", () => {
  const text = "a\tb\nc é 日本 👩‍💻";
  expect(clean(text)).toBe(text);
});

test("one line stays one line", () => {
  fc.assert(fc.property(anything, (text) => !cleanLine(text).includes("\n")));
});

test("an event line is the same JSON, on one line, without controls", () => {
  fc.assert(
    fc.property(fc.record({ text: anything }), (value) => {
      const line = jsonLine(value);
      expect(JSON.parse(line)).toEqual(value);
      expect(line).not.toMatch(/[\n\x7f-\x9f\u2028\u2029]/);
    }),
  );
});
