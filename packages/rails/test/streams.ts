import fc from "fast-check";
import type { StreamHook } from "trackside";
import { expect } from "vitest";

/** What a transformer makes of a text that arrives in these pieces. */
export function streamed(hook: StreamHook, chunks: readonly string[]): string {
  const transformer = hook.create("text");
  let out = "";
  for (const chunk of chunks) out += transformer.push(chunk);
  return out + transformer.flush();
}

/** Texts that are put together from the pieces a guard has to think about, and from anything else. */
export function textsOf(pieces: readonly string[]): fc.Arbitrary<string> {
  const piece = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...pieces) },
    {
      weight: 2,
      arbitrary: fc.constantFrom(" ", "\n", ". ", ", ", "-", "(", ")", "a", "1", "é", "👩", "/", ":"),
    },
    { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 5 }) },
    // The beginning of a piece, or its end: what a match could have been.
    {
      weight: 2,
      arbitrary: fc.tuple(fc.constantFrom(...pieces), fc.nat(40)).map(([text, n]) => text.slice(0, n)),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(fc.constantFrom(...pieces), fc.nat(40)).map(([text, n]) => text.slice(n)),
    },
  );
  return fc.array(piece, { maxLength: 12 }).map((all) => all.join(""));
}

/** Checks that a transformer gives the same for a text in one piece, character by character, and cut at random. */
export function sameHoweverCut(hook: StreamHook, texts: fc.Arbitrary<string>, numRuns = 2000): void {
  const cuts = fc.array(fc.nat(30), { minLength: 1, maxLength: 10 });
  const property = fc.property(texts, cuts, (text, sizes) => {
    const whole = streamed(hook, [text]);
    expect(streamed(hook, text.split(""))).toBe(whole);
    expect(streamed(hook, piecesOf(text, sizes))).toBe(whole);
  });
  fc.assert(property, { numRuns });
}

function piecesOf(text: string, sizes: readonly number[]): string[] {
  const pieces: string[] = [];
  for (let at = 0, i = 0; at < text.length; i++) {
    const size = (sizes[i % sizes.length] ?? 0) + 1;
    pieces.push(text.slice(at, at + size));
    at += size;
  }
  return pieces;
}
