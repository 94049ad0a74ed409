import type { Json } from "trackside";
import { expect, test } from "vitest";
import { rewriteJson } from "./json.ts";
import { Rewriting, type TextRule } from "./rewriter.ts";

/** Replaces every `x`. */
const rule: TextRule = {
  probes: () => [
    {
      reach: 0,
      scan: (text, from, _done, report) => {
        for (let at = text.indexOf("x", from); at >= 0; at = text.indexOf("x", at + 1))
          report(at, at + 1, "x");
        return text.length;
      },
    },
  ],
  replace: () => "-",
};

const rewrite = (value: Json) => rewriteJson(value, new Rewriting(rule));

test("texts and keys at every depth are rewritten, and nothing else is touched", async () => {
  expect(await rewrite({ ax: [1, null, true, "xy", { b: "x" }], c: 1.5 })).toEqual({
    "a-": [1, null, true, "-y", { b: "-" }],
    c: 1.5,
  });
});

test("a value with nothing in it comes back as it is", async () => {
  const value = { a: [{ b: "c" }], d: 12345678 };
  expect(await rewrite(value)).toBe(value);
});

test("keys that become the same keep their values, and __proto__ is a key like any other", async () => {
  expect(await rewrite({ x: 1, "-": 2 })).toEqual({ "-": 1, "- (2)": 2 });
  const left = await rewrite(JSON.parse('{"__proto__": {"a": "x"}}'));
  expect(JSON.stringify(left)).toBe('{"__proto__":{"a":"-"}}');
});

test("a list of a million numbers leaves the event loop to others", async () => {
  let turns = 0;
  let watching = true;
  const tick = () => {
    turns += 1;
    if (watching) setImmediate(tick);
  };
  setImmediate(tick);
  await rewrite(Array.from({ length: 1_000_000 }, (_, i) => i));
  watching = false;
  expect(turns).toBeGreaterThan(3);
});
