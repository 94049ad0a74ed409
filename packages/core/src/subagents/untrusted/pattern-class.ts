import { type CharSet, native, not, onePoint, ranges, union } from "./char-set.ts";
import type { Reader } from "./pattern-reader.ts";

const DIGITS = ranges([[48, 57]]);
const WORD = ranges([
  [48, 57],
  [65, 90],
  [95, 95],
  [97, 122],
]);
const SPACE = native(/^\s$/u);

const SETS: ReadonlyMap<string, CharSet> = new Map([
  ["d", DIGITS],
  ["D", not(DIGITS)],
  ["w", WORD],
  ["W", not(WORD)],
  ["s", SPACE],
  ["S", not(SPACE)],
]);

const CONTROLS: ReadonlyMap<string, number> = new Map([
  ["t", 9],
  ["n", 10],
  ["v", 11],
  ["f", 12],
  ["r", 13],
]);

export function isWord(point: number): boolean {
  return WORD.has(point);
}

const HEX = /x([0-9a-f]{2})|u([0-9a-f]{4})|u\{([0-9a-f]{1,6})\}/iy;
const LOW_HALF = /\\u(d[c-f][0-9a-f]{2})/iy;
const PROPERTY = /(p|P)\{([A-Za-z_]{1,40}(?:=[A-Za-z_0-9]{1,40})?)\}/y;
const ZERO = /0(?![0-9])/y;

/** What follows a backslash. One code point comes as a number where a range may begin or end with it. */
function parseEscaped(reader: Reader, inClass: boolean): CharSet | number {
  if (reader.done) return failed(reader, "it ends in a single `\\`");
  const property = reader.matches(PROPERTY);
  if (property !== null) return propertySet(reader, property[1] === "P", property[2] ?? "");
  const hex = reader.matches(HEX);
  if (hex !== null) return hexPoint(reader, Number.parseInt(hex[1] ?? hex[2] ?? hex[3] ?? "", 16));
  if (reader.matches(ZERO) !== null) return 0;
  const point = reader.point();
  const char = String.fromCodePoint(point);
  const known = SETS.get(char) ?? CONTROLS.get(char);
  if (known !== undefined) return known;
  if (inClass && char === "b") return 8;
  if (/[1-9k]/.test(char)) return failed(reader, "it refers back to a group, which is not supported");
  if (/[AzZ]/.test(char)) return failed(reader, `it has \\${char}; write ^ and $ instead`);
  if (/[A-Za-z0]/.test(char)) return failed(reader, `it has \\${char}, which is not supported`);
  return point;
}

export function parseEscape(reader: Reader, inClass: boolean): CharSet {
  const found = parseEscaped(reader, inClass);
  return typeof found === "number" ? onePoint(found) : found;
}

/** A character class, from behind its `[`. */
export function parseClass(reader: Reader): CharSet {
  const negated = reader.takes("^");
  const spans: [number, number][] = [];
  const sets: CharSet[] = [];
  while (!reader.done && !reader.starts("]")) {
    const from = parseMember(reader);
    if (typeof from === "number" && reader.starts("-") && !reader.starts("-]")) {
      reader.takes("-");
      const to = reader.done ? from : parseMember(reader);
      if (typeof to !== "number" || to < from)
        reader.fail("it has a range in `[…]` that ends before it begins");
      else spans.push([from, to]);
    } else if (typeof from === "number") spans.push([from, from]);
    else {
      sets.push(from);
      if (reader.starts("-") && !reader.starts("-]"))
        reader.fail("it has a range in `[…]` that begins with a class");
    }
  }
  if (!reader.takes("]")) reader.fail("it has a `[` that is never closed");
  const all = union([ranges(spans), ...sets]);
  return negated ? not(all) : all;
}

function parseMember(reader: Reader): CharSet | number {
  return reader.takes("\\") ? parseEscaped(reader, true) : reader.point();
}

/** A pair of escaped halves is one code point. */
function hexPoint(reader: Reader, point: number): number {
  if (point > 0x10ffff) return failed(reader, "it has a code point beyond U+10FFFF");
  const low = point >= 0xd800 && point <= 0xdbff ? reader.matches(LOW_HALF) : null;
  if (low === null) return point;
  return (point - 0xd800) * 0x400 + (Number.parseInt(low[1] ?? "", 16) - 0xdc00) + 0x10000;
}

/** Unicode knows best; on a single code point its answer takes no time. */
function propertySet(reader: Reader, negated: boolean, name: string): CharSet | number {
  try {
    const set = native(new RegExp(`^\\p{${name}}$`, "u"));
    return negated ? not(set) : set;
  } catch {
    return failed(reader, `it has \\p{${name}}, which Unicode does not know`);
  }
}

function failed(reader: Reader, problem: string): number {
  reader.fail(problem);
  return 0;
}
