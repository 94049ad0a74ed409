import * as fc from "fast-check";
import { expect, test } from "vitest";
import { jsonLines as encodedLines } from "./json-lines.ts";

function jsonLines(text: string): string {
  const { content, chars } = encodedLines(text);
  const lines = new TextDecoder("utf-8", { ignoreBOM: true }).decode(content);
  expect(chars).toBe(lines.length);
  return lines;
}

test("T4 JSON in lines is the same JSON, and hardly longer", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), (text) => {
      const compact = JSON.stringify(JSON.parse(text));
      const lines = jsonLines(compact);
      expect(lines.replaceAll("\n", "")).toBe(compact);
      expect(JSON.parse(lines)).toEqual(JSON.parse(compact));
      expect(lines.length).toBeLessThanOrEqual(compact.length * 1.03 + 1);
    }),
  );
});

test("T4 records are on lines of their own, also inside an object; numbers share lines", () => {
  const records = Array.from({ length: 3 }, (_, i) => ({
    id: i,
    name: `a record with the number ${i}`,
    ok: true,
  }));
  expect(jsonLines(JSON.stringify(records)).split("\n")).toHaveLength(3);
  const inside = jsonLines(
    JSON.stringify({ total: 3, records: records.map((one) => ({ ...one, more: "x".repeat(60) })) }),
  );
  expect(inside.split("\n").length).toBeGreaterThanOrEqual(3);
  const numbers = jsonLines(JSON.stringify(Array.from({ length: 1000 }, (_, i) => i)));
  expect(Math.max(...numbers.split("\n").map((line) => line.length))).toBeLessThan(50);
});

test("T4 quotes and backslashes in texts do not confuse it", () => {
  const odd = ['a\\"b,', "\\", '","', "[{", "x".repeat(90), '\\\\",'];
  expect(JSON.parse(jsonLines(JSON.stringify([odd, { [odd.join()]: odd }])))).toEqual([
    odd,
    { [odd.join()]: odd },
  ]);
});
