import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { splitInjected, withInjected } from "./injected.ts";

const schema = {
  type: "object",
  properties: { a: { type: "number" } },
  required: ["a"],
  additionalProperties: false,
};

describe("T3 injected arguments", () => {
  test("T3 are optional strings in a copy of the schema", () => {
    const before = JSON.stringify(schema);
    expect(withInjected(schema, { why: "Say why." }, false)).toEqual({
      ...schema,
      properties: { a: { type: "number" }, why: { type: "string", description: "Say why." } },
    });
    expect(JSON.stringify(schema)).toBe(before);
    expect(withInjected(schema, {}, false)).toBe(schema);
  });

  test("T3 are required and nullable where a provider reads schemas strictly", () => {
    expect(withInjected(schema, { why: "Say why." }, true)).toMatchObject({
      properties: { why: { type: ["string", "null"] } },
      required: ["a", "why"],
    });
  });

  test("T3 a schema without properties gets them all the same", () => {
    expect(withInjected({}, { why: "x" }, false)).toEqual({
      type: "object",
      properties: { why: { type: "string", description: "x" } },
    });
  });

  test("T3 what was written is split apart and nothing is lost but nulls", () => {
    const names = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d", "__x"), { maxLength: 5 });
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom("a", "b", "c", "d", "__x"), fc.jsonValue()),
        names,
        (written, given) => {
          const injected = Object.fromEntries(given.map((name) => [name, "what for"]));
          const split = splitInjected(written as never, injected);
          for (const name of given) expect(Object.hasOwn(split.arguments, name)).toBe(false);
          const kept = Object.fromEntries(
            Object.entries(written).filter(
              ([name, value]) => value !== null || !given.some((one) => one === name),
            ),
          );
          expect({ ...split.arguments, ...split.injected }).toEqual(kept);
        },
      ),
    );
  });
});
