import * as fc from "fast-check";
import { expect, test } from "vitest";
import { matcher } from "./tool-names.ts";

test("a pattern names what a regular expression with .* would", () => {
  const letters = fc.constantFrom("a", "b", "*", "_");
  const texts = fc.array(letters, { maxLength: 8 }).map((list) => list.join(""));
  fc.assert(
    fc.property(texts, texts, (pattern, text) => {
      const name = text.replaceAll("*", "c");
      const expected = new RegExp(`^${pattern.replaceAll("*", ".*")}$`).test(name);
      expect(matcher([pattern])(name)).toBe(expected);
    }),
    { numRuns: 2_000 },
  );
});

test("a pattern of many stars takes no longer than others", () => {
  // Trying every way to spread them would not come to an end.
  expect(matcher(["a*".repeat(60)])("a".repeat(64).concat("b"))).toBe(true);
  expect(matcher([`${"a*".repeat(60)}c`])("a".repeat(64).concat("b"))).toBe(false);
});

test("nothing is named by no pattern", () => {
  expect(matcher([])("a")).toBe(false);
});
