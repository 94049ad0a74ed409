import { describe, expect, test } from "vitest";
import { draftOf, readArguments, readResult } from "./read-draft.ts";

describe("arguments as a person wrote them", () => {
  test("are one JSON object", () => {
    expect(readArguments(' {"a": 1}\n')).toEqual({ value: { a: 1 } });
    for (const text of ["[]", "null", "3", '"a"'])
      expect(readArguments(text)).toEqual({ problem: expect.stringContaining("one JSON object expected") });
    for (const text of ["", "{", "a: 1"])
      expect(readArguments(text)).toEqual({ problem: expect.stringContaining("not valid JSON") });
  });

  test("start from what they are, with nothing hidden", () => {
    const hidden = { text: "a\u200b\x9b\u{e0041}" };
    expect(draftOf(hidden)).toBe('{"text":"a\\u200b\\u009b\\udb40\\udc41"}');
    expect(readArguments(draftOf(hidden, 2))).toEqual({ value: hidden });
  });
});

describe("a result as a person wrote it (T8)", () => {
  test.each([
    ["JSON where it is some", "[1]", null, [1]],
    ["text where it is not", " red \n", null, "red"],
    ["text, if only a text fits", "42", { type: "string" }, "42"],
    ["a text in quotes, without them", '"42"', { type: "string" }, "42"],
    ["a number, if only a number fits", "42", { type: "number" }, 42],
    ["text, if the schema does not say", "red", { enum: ["red"] }, "red"],
  ])("is %s", (_, text, schema, value) => {
    expect(readResult(text, schema)).toEqual({ value });
  });

  test("that has to be JSON and is none is a problem", () => {
    expect(readResult("red", { type: "object" })).toEqual({
      problem: expect.stringContaining("not valid JSON"),
    });
  });
});
