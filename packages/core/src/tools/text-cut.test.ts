import * as fc from "fast-check";
import { expect, test } from "vitest";
import { cutAt, isLonger, utf8Length } from "./text-cut.ts";

const text = fc.string({ unit: "binary" });

test("T4 a text is cut where no character is torn apart, at most one unit early", () => {
  fc.assert(
    fc.property(text, fc.integer({ min: -3, max: 40 }), (whole, at) => {
      const cut = cutAt(whole, at);
      const asked = Math.max(0, Math.min(at, whole.length));
      expect(asked - cut === 0 || asked - cut === 1).toBe(true);
      const [head, tail] = [whole.slice(0, cut), whole.slice(cut)];
      expect([...head].length + [...tail].length).toBe([...whole].length);
    }),
  );
});

test("T4 bytes are counted as UTF-8 has them, lone surrogates too", () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 0, max: 60 }), (whole, limit) => {
      const bytes = new TextEncoder().encode(whole).length;
      expect(utf8Length(whole)).toBe(bytes);
      expect(isLonger(whole, limit)).toBe(bytes > limit);
    }),
  );
  for (const odd of ["\ud83d", "a\udc00b", "\udc00\ud83d", "😀\ud83d"])
    expect(utf8Length(odd)).toBe(new TextEncoder().encode(odd).length);
});
