import fc from "fast-check";
import { expect, test } from "vitest";
import { comparable, diffLines } from "./diff.ts";

const written = (lines: ReturnType<typeof diffLines>) =>
  lines.map(({ kind, text }) => ({ same: " ", added: "+", removed: "-" })[kind] + text);

test("what changed stands beside what did not, removed before added", () => {
  expect(written(diffLines("a\nb\nc", "a\nx\nc\nd"))).toEqual([" a", "-b", "+x", " c", "+d"]);
});

test("lines carry the numbers of the sides they are on", () => {
  expect(diffLines("a\nb", "b\nc")).toEqual([
    { kind: "removed", text: "a", before: 1 },
    { kind: "same", text: "b", before: 2, after: 1 },
    { kind: "added", text: "c", after: 2 },
  ]);
});

test("nothing against something, and the same twice", () => {
  expect(written(diffLines("", "a"))).toEqual(["+a"]);
  expect(written(diffLines("a", ""))).toEqual(["-a"]);
  expect(diffLines("", "")).toEqual([]);
  expect(written(diffLines("a\nb", "a\nb"))).toEqual([" a", " b"]);
});

test("both sides can be read back from any diff, and it is the shortest one", () => {
  const text = fc
    .array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 12 })
    .map((lines) => lines.join("\n"));
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = diffLines(before, after);
      const side = (left: "removed" | "added") =>
        lines.flatMap((line) => (line.kind === "same" || line.kind === left ? [line.text] : [])).join("\n");
      expect(side("removed")).toBe(before);
      expect(side("added")).toBe(after);
      expect(lines.filter((line) => line.kind === "same").length).toBe(commonLength(before, after));
    }),
  );
});

test("two large texts with nothing in common are still told exactly", () => {
  const many = (sign: string) => Array.from({ length: 5000 }, (_, at) => `${sign}${at}`).join("\n");
  const lines = diffLines(many("a"), many("b"));
  expect(lines.filter((line) => line.kind === "removed").length).toBe(5000);
  expect(lines.filter((line) => line.kind === "added").length).toBe(5000);
});

test("the order of fields is no difference, the order of a list is", () => {
  expect(comparable({ b: 1, a: { d: 2, c: 3 } })).toBe(comparable({ a: { c: 3, d: 2 }, b: 1 }));
  expect(comparable([1, 2])).not.toBe(comparable([2, 1]));
});

/** The longest common subsequence by the book, to compare with. */
function commonLength(before: string, after: string): number {
  const a = before === "" ? [] : before.split("\n");
  const b = after === "" ? [] : after.split("\n");
  let row = Array<number>(b.length + 1).fill(0);
  for (const line of a) {
    const next = [0];
    b.forEach((other, at) => {
      next.push(line === other ? (row[at] ?? 0) + 1 : Math.max(row[at + 1] ?? 0, next[at] ?? 0));
    });
    row = next;
  }
  return row.at(-1) ?? 0;
}
