import * as fc from "fast-check";
import { expect, test } from "vitest";
import { LinedJson } from "./lined-json.ts";

function lined(text: string, size = text.length): string {
  const bytes = new TextEncoder().encode(text);
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let lines = "";
  for (const piece of new LinedJson(pieces)) lines += decoder.decode(piece, { stream: true });
  return lines + decoder.decode();
}

test("T4 JSON in lines is the same JSON, and hardly longer, however it comes in pieces", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), fc.integer({ min: 1, max: 40 }), (text, size) => {
      const compact = JSON.stringify(JSON.parse(text));
      const lines = lined(compact);
      expect(lines.replaceAll("\n", "")).toBe(compact);
      expect(JSON.parse(lines)).toEqual(JSON.parse(compact));
      expect(lines.length).toBeLessThanOrEqual(compact.length * 1.03 + 1);
      expect(lined(compact, size)).toBe(lines);
    }),
  );
});

test("T4 it can be gone through again", () => {
  const json = new LinedJson([new TextEncoder().encode(JSON.stringify(["x".repeat(50), "y".repeat(50)]))]);
  const read = () => Array.from(json, (piece) => new TextDecoder().decode(piece)).join("");
  expect(read()).toBe(read());
});

test("T4 records are on lines of their own, also inside an object; numbers share lines", () => {
  const records = Array.from({ length: 3 }, (_, i) => ({
    id: i,
    name: `a record with the number ${i}`,
    ok: true,
  }));
  expect(lined(JSON.stringify(records)).split("\n")).toHaveLength(3);
  const inside = lined(
    JSON.stringify({ total: 3, records: records.map((one) => ({ ...one, more: "x".repeat(60) })) }),
  );
  expect(inside.split("\n").length).toBeGreaterThanOrEqual(3);
  const numbers = lined(JSON.stringify(Array.from({ length: 1000 }, (_, i) => i)));
  expect(Math.max(...numbers.split("\n").map((line) => line.length))).toBeLessThan(50);
});

test("T4 quotes and backslashes in texts do not confuse it", () => {
  const odd = ['a\\"b,', "\\", '","', "[{", "x".repeat(90), '\\\\",'];
  const value = [odd, { [odd.join()]: odd }];
  expect(JSON.parse(lined(JSON.stringify(value)))).toEqual(value);
});
