import { type CharSet, onePoint } from "./char-set.ts";
import { parseClass, parseEscape } from "./pattern-class.ts";
import { Reader } from "./pattern-reader.ts";

export type Edge = "start" | "end" | "word" | "inside";

/** A regular expression as a tree. What needs backtracking cannot be said in it. */
export type Pattern =
  | { readonly kind: "char"; readonly set: CharSet }
  | { readonly kind: "edge"; readonly edge: Edge }
  | { readonly kind: "sequence"; readonly parts: readonly Pattern[] }
  | { readonly kind: "either"; readonly forms: readonly Pattern[] }
  | { readonly kind: "repeat"; readonly inner: Pattern; readonly min: number; readonly max: number };

/** `.`: anything but an end of line. */
const ANY: CharSet = {
  has: (point) => point !== 10 && point !== 13 && point !== 0x2028 && point !== 0x2029,
  cost: 1,
};

const MAX_GROUPS = 50;

/** Reads the part of JavaScript's regular expressions that can be run in linear time. */
export function parsePattern(text: string): { ok: true; pattern: Pattern } | { ok: false; problem: string } {
  const reader = new Reader(text);
  const pattern = parseForms(reader, 0);
  if (!reader.done) reader.fail("it has a `)` that closes nothing");
  return reader.problem === undefined ? { ok: true, pattern } : { ok: false, problem: reader.problem };
}

function parseForms(reader: Reader, depth: number): Pattern {
  const forms = [parseSequence(reader, depth)];
  while (reader.takes("|")) forms.push(parseSequence(reader, depth));
  return forms.length === 1 && forms[0] ? forms[0] : { kind: "either", forms };
}

function parseSequence(reader: Reader, depth: number): Pattern {
  const parts: Pattern[] = [];
  while (!reader.done && !reader.starts("|") && !reader.starts(")")) parts.push(parseRepeated(reader, depth));
  return { kind: "sequence", parts };
}

function parseRepeated(reader: Reader, depth: number): Pattern {
  const inner = parseOne(reader, depth);
  const counts = parseCounts(reader);
  if (counts === undefined) return inner;
  if (inner.kind === "edge") reader.fail("it repeats `^`, `$`, `\\b` or `\\B`");
  if (counts.max < counts.min)
    reader.fail(`it has the counts {${counts.min},${counts.max}} the wrong way round`);
  if (parseCounts(reader) !== undefined) reader.fail("it repeats a repetition; put the inner one in a group");
  return { kind: "repeat", inner, ...counts };
}

const COUNTS = /\{(\d{1,9})(,(\d{0,9}))?\}/y;

/** `*`, `+`, `?`, `{n}`, `{n,}`, `{n,m}`; whether it is lazy makes no difference to whether a text matches. */
function parseCounts(reader: Reader): { min: number; max: number } | undefined {
  const counts = parseGreedy(reader);
  if (counts !== undefined) reader.takes("?");
  return counts;
}

function parseGreedy(reader: Reader): { min: number; max: number } | undefined {
  if (reader.takes("*")) return { min: 0, max: Number.POSITIVE_INFINITY };
  if (reader.takes("+")) return { min: 1, max: Number.POSITIVE_INFINITY };
  if (reader.takes("?")) return { min: 0, max: 1 };
  const found = reader.matches(COUNTS);
  if (found === null) return undefined;
  const [, min, comma, max] = found;
  if (comma === undefined) return { min: Number(min), max: Number(min) };
  return { min: Number(min), max: max === "" ? Number.POSITIVE_INFINITY : Number(max) };
}

const NO_MINIMUM = /\{,\d/y;

function parseOne(reader: Reader, depth: number): Pattern {
  if (reader.takes("^")) return { kind: "edge", edge: "start" };
  if (reader.takes("$")) return { kind: "edge", edge: "end" };
  if (reader.takes("\\b")) return { kind: "edge", edge: "word" };
  if (reader.takes("\\B")) return { kind: "edge", edge: "inside" };
  if (reader.takes("(")) return parseGroup(reader, depth + 1);
  if (reader.takes(".")) return { kind: "char", set: ANY };
  if (reader.takes("[")) return { kind: "char", set: parseClass(reader) };
  if (reader.takes("\\")) return { kind: "char", set: parseEscape(reader, false) };
  if (reader.matches(NO_MINIMUM) !== null) reader.fail("it has `{,`; write {0,n}");
  if (parseCounts(reader) !== undefined) reader.fail("it repeats nothing");
  return { kind: "char", set: onePoint(reader.point()) };
}

const GROUP_NAME = /\?<[A-Za-z_$][\w$]{0,63}>/y;

function parseGroup(reader: Reader, depth: number): Pattern {
  if (depth > MAX_GROUPS) reader.fail(`it nests groups more than ${MAX_GROUPS} levels deep`);
  if (["?=", "?!", "?<=", "?<!"].some((start) => reader.starts(start)))
    reader.fail("it looks ahead or behind, which is not supported");
  else if (reader.starts("?") && !reader.takes("?:") && reader.matches(GROUP_NAME) === null)
    reader.fail("it has flags or a kind of group that is not supported");
  const inner = parseForms(reader, depth);
  if (!reader.takes(")")) reader.fail("it has a `(` that is never closed");
  return inner;
}
