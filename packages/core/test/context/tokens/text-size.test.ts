import fc from "fast-check";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { estimateText } from "../../../src/context/estimate.ts";
import { sizeText } from "../../../src/context/text-size.ts";
import { LANGUAGES } from "./languages.ts";
import { MATERIAL } from "./material.ts";

const size = (text: string): number => {
  const { plain, wide } = sizeText(text);
  return plain + wide;
};

describe("B6 the estimate against the real tokenizer", () => {
  it.each(Object.entries(MATERIAL))("B6 %s: within 15 percent", (_, text) => {
    expect(Math.abs(size(text) / countTokens(text) - 1)).toBeLessThan(0.15);
  });

  it.each(Object.entries(LANGUAGES))("B6 %s: within 20 percent", (_, text) => {
    expect(Math.abs(size(text) / countTokens(text) - 1)).toBeLessThan(0.2);
  });

  it("B6 all of it together: within 3 percent", () => {
    const texts = [...Object.values(MATERIAL), ...Object.values(LANGUAGES)];
    const sum = (count: (text: string) => number) => texts.reduce((total, text) => total + count(text), 0);
    expect(Math.abs(sum(size) / sum((text) => countTokens(text)) - 1)).toBeLessThan(0.03);
  });

  it("B6 a letter or a sign over and over is not taken for words", () => {
    for (const character of ["a", "A", "=", "-", " "]) {
      const text = character.repeat(20_000);
      expect(size(text), character).toBeLessThan(5_000);
    }
  });
});

describe("the estimate of any text", () => {
  const text = fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.stringMatching(/^[\s\S]*$/));

  it("is nothing for nothing, and never more than three tokens for a character", () => {
    expect(estimateText("")).toBe(0);
    fc.assert(
      fc.property(text, (any) => {
        const tokens = estimateText(any);
        expect(tokens).toBeGreaterThanOrEqual(0);
        expect(tokens).toBeLessThanOrEqual(3 * any.length + 1);
      }),
    );
  });

  it("takes halves of characters that stand alone", () => {
    expect(estimateText("\ud83d")).toBeGreaterThan(0);
    expect(estimateText("\ude00")).toBeGreaterThanOrEqual(0);
  });

  it("is about that of its parts, wherever it is cut", () => {
    fc.assert(
      fc.property(text, fc.nat(), (any, at) => {
        const cut = at % (any.length + 1);
        const parts = size(any.slice(0, cut)) + size(any.slice(cut));
        expect(Math.abs(parts - size(any))).toBeLessThan(4);
      }),
    );
  });
});
