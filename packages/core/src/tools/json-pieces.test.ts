import * as fc from "fast-check";
import { expect, test } from "vitest";
import { jsonPieces } from "./json-pieces.ts";

const MOST = 1_000_000;

/** In small pieces, so that there are many. */
function written(value: unknown): string | undefined {
  return jsonPieces(value, MOST, 300)?.join("");
}

test("T4 JSON in pieces is what JSON.stringify writes", () => {
  fc.assert(
    fc.property(fc.anything({ maxKeys: 8, withDate: true, withNullPrototype: true }), (part) => {
      for (const value of [part, [part, "x".repeat(400), part], { a: "y".repeat(400), part, b: [part] }])
        expect(written(value)).toBe(JSON.stringify(value));
    }),
  );
});

test("T4 a large value is in many pieces, wherever in it its size is", () => {
  const rows = Array.from({ length: 200 }, (_, id) => ({ id, text: "a text" }));
  const records = Object.fromEntries(rows.map((row) => [`row ${row.id}`, row]));
  const text = 'a "quoted"\n text \u{1f600}'.repeat(300);
  for (const value of [rows, records, text, { data: { rows } }, [[text]], [rows, records, text]]) {
    expect(jsonPieces(value, MOST, 300)?.length).toBeGreaterThan(10);
    expect(written(value)).toBe(JSON.stringify(value));
  }
});

test("T4 pieces tear no character apart", () => {
  const pieces = jsonPieces("\u{1f600}".repeat(1000), MOST, 301) ?? [];
  expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
});

test("T4 what JSON leaves out or cannot express is left out, or refused, in pieces too", () => {
  const filler = "x".repeat(400);
  const odd = { filler, none: undefined, call: () => 1, last: undefined };
  expect(written(odd)).toBe(JSON.stringify(odd));
  expect(written([filler, undefined, () => 1, Symbol("s")])).toBe(`["${filler}",null,null,null]`);
  expect(written({ none: undefined, more: { filler, none: undefined } })).toBe(
    `{"more":{"filler":"${filler}"}}`,
  );
  expect(() => written([filler, 1n])).toThrow("BigInt");
});

test("T4 values that write themselves do so", () => {
  class Row {
    readonly #text = "t".repeat(50);
    toJSON(): unknown {
      return { text: this.#text };
    }
  }
  const list = Array.from({ length: 100 }, () => new Row());
  expect(written(list)).toBe(JSON.stringify(list));
  expect(jsonPieces(list, MOST, 300)?.length).toBeGreaterThan(10);
  const inside = {
    filler: "x".repeat(400),
    at: new Date(0),
    own: { toJSON: () => "own" },
    set: new Set([1]),
  };
  expect(written(inside)).toBe(JSON.stringify(inside));
});

test("T4 a value that contains itself is refused, and so is one too deep to be written", () => {
  const around: unknown[] = ["x".repeat(400)];
  around.push({ around });
  expect(() => written(around)).toThrow("circular");
  let deep: unknown = "x".repeat(400);
  for (let i = 0; i < 1000; i++) deep = i % 2 === 0 ? [deep] : { deep };
  expect(written(deep)).toBe(JSON.stringify(deep));
  for (let i = 0; i < 200_000; i++) deep = [deep];
  expect(() => written(deep)).toThrow(RangeError);
});

test("T4 what is too large is not written to its end", () => {
  const endless = Object.assign(new Array(4_000_000_000), { 0: "x" });
  const pieces = jsonPieces(endless, 10_000) ?? [];
  expect(pieces.join("").length).toBeLessThan(2_000_000);
  const shared = Array.from({ length: 100 }, () => "x".repeat(100));
  const many = Array.from({ length: 1000 }, () => Array.from({ length: 1000 }, () => shared));
  expect(jsonPieces(many, MOST)?.join("").length).toBeLessThan(5_000_000);
});
