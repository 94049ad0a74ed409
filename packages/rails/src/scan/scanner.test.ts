import { expect, test } from "vitest";
import type { Probe } from "./probe.ts";
import { Scanner } from "./scanner.ts";
import { nextSlice } from "./slices.ts";

/** Finds a word; holds back its beginning. */
function wordProbe(word: string): Probe {
  return {
    reach: 0,
    scan(text, from, done, report) {
      let at = from;
      for (let found = text.indexOf(word, at); found >= 0; found = text.indexOf(word, at)) {
        report(found, found + word.length, word);
        at = found + word.length;
      }
      if (done) return text.length;
      for (let size = Math.min(word.length - 1, text.length - at); size > 0; size--) {
        if (text.endsWith(word.slice(0, size))) return text.length - size;
      }
      return text.length;
    },
  };
}

function scanned(words: readonly string[], chunks: readonly string[], before = ""): string[] {
  const told: string[] = [];
  const sink = {
    text: (piece: string) => void told.push(piece),
    match: (value: string, kind: string) => void told.push(`<${kind}:${value}>`),
  };
  const scanner = new Scanner(words.map(wordProbe), sink, before);
  for (const chunk of chunks) scanner.push(chunk);
  scanner.flush();
  return told;
}

test("matches that overlap become one, and those that touch stay two", () => {
  expect(scanned(["abc", "cde"], ["xabcdey"])).toEqual(["x", "<abc:abcde>", "y"]);
  expect(scanned(["abc", "def"], ["abcdef"])).toEqual(["<abc:abc>", "<def:def>"]);
  expect(scanned(["bc", "abcd"], ["abcd"])).toEqual(["<abcd:abcd>"]);
});

test("nothing is given on before every probe is sure of it", () => {
  expect(scanned(["abc", "cd!"], ["ab", "c", "d", "x"]).join("")).toBe("<abc:abc>dx");
  expect(scanned(["abc"], ["xa", "b", "x"])).toEqual(["x", "abx"]);
});

test("half of a character is never given on", () => {
  expect(scanned(["abc"], ["\ud83d", "\ude00"])).toEqual(["😀"]);
  expect(scanned(["abc"], ["\ud83d"])).toEqual(["\ud83d"]);
});

test("what stands before is looked at and not told", () => {
  expect(scanned(["abc"], ["abc"], "abc: ")).toEqual(["<abc:abc>"]);
});

test("a long text in small pieces is forgotten as it goes by", () => {
  const chunks = Array.from({ length: 20_000 }, (_, i) => (i % 100 === 0 ? "abc" : "x"));
  expect(scanned(["abc"], chunks).join("")).toBe(chunks.join("").replaceAll("abc", "<abc:abc>"));
});

test("work that takes long is asked to wait for the next turn of the event loop", async () => {
  await new Promise(setImmediate);
  expect(nextSlice()).toBeUndefined();
  const end = performance.now() + 10;
  while (performance.now() < end);
  const wait = nextSlice();
  expect(wait).toBeInstanceOf(Promise);
  await wait;
});
