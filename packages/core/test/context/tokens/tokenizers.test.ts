import { countTokens as cl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { countTokens as o200k } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { bounded, loadTokenizer } from "../../../src/local/tokenizers.ts";
import { LANGUAGES } from "./languages.ts";
import { MATERIAL } from "./material.ts";

describe("B6 real tokenizers", () => {
  it("B6 count what their package counts", async () => {
    const counts = [await loadTokenizer("o200k_base"), await loadTokenizer("cl100k_base")];
    const text = MATERIAL["JSON, compact"] ?? "";
    expect(counts.map((count) => count?.(text))).toEqual([o200k(text), cl100k(text)]);
  });

  it("B6 take names of special tokens for text", async () => {
    const count = await loadTokenizer("o200k_base");
    expect(count?.("what does <|endoftext|> mean?")).toBeGreaterThan(5);
  });

  it("B6 count to within a hundredth what had to be cut", async () => {
    const count = await loadTokenizer("o200k_base");
    for (const [name, text] of Object.entries({ ...LANGUAGES, ...MATERIAL })) {
      const real = o200k(text);
      expect(Math.abs((count?.(text) ?? 0) - real), name).toBeLessThanOrEqual(Math.ceil(real / 40));
    }
  });

  it("B6 never hand an encoder a long run, nor a text of any length", () => {
    let [longest, total] = [0, 0];
    const count = bounded((text) => {
      longest = Math.max(longest, text.length);
      total += text.length;
      return Math.ceil(text.length / 4);
    });
    for (const text of [
      "a".repeat(300_000),
      "日".repeat(300_000),
      "=".repeat(300_000),
      " ".repeat(300_000),
      "😀".repeat(200_000),
    ]) {
      [longest, total] = [0, 0];
      expect(count(text)).toBeGreaterThan(0);
      expect(longest).toBeLessThanOrEqual(66);
      expect(total).toBeLessThanOrEqual(33_000);
    }
  });

  it("B6 long texts are sampled, and come out within a tenth", async () => {
    const count = await loadTokenizer("o200k_base");
    const mixed = [...Object.values(MATERIAL), ...Object.values(LANGUAGES)].join("\n\n").repeat(3);
    expect(mixed.length).toBeGreaterThan(100_000);
    expect(Math.abs((count?.(mixed) ?? 0) / o200k(mixed) - 1)).toBeLessThan(0.1);
  });

  it("B6 no character is cut in two", () => {
    const pieces: string[] = [];
    bounded((text) => pieces.push(text))("😀".repeat(500));
    expect(pieces.join("")).toBe("😀".repeat(500));
    expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
  });
});
