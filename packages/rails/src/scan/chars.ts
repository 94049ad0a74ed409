/** What an ASCII character is, as bits; 0 for everything else. */
export const DIGIT = 1;
export const UPPER = 2;
export const LOWER = 4;
export const HEX = 8;
export const LETTER = UPPER | LOWER;
export const ALNUM = DIGIT | LETTER;

const FLAGS = new Uint8Array(128);
for (let code = 0; code < 128; code++) {
  const char = String.fromCharCode(code);
  if (/[0-9]/.test(char)) FLAGS[code] = DIGIT | HEX;
  else if (/[A-Z]/.test(char)) FLAGS[code] = UPPER;
  else if (/[a-z]/.test(char)) FLAGS[code] = LOWER;
  if (/[A-Fa-f]/.test(char)) FLAGS[code] = (FLAGS[code] ?? 0) | HEX;
}

/** The bits of a UTF-16 unit. What `charCodeAt` gives beyond the ends of a text has none. */
export function flagsOf(code: number): number {
  return code < 128 ? (FLAGS[code] ?? 0) : 0;
}

export function is(text: string, at: number, flags: number): boolean {
  return (flagsOf(text.charCodeAt(at)) & flags) !== 0;
}

/** A set of characters to walk over quickly. */
export type CharSet = Uint8Array;

/** Every UTF-16 unit that one of the patterns, such as `/[a-z]/`, matches by itself. ASCII only unless `wide`. */
export function charSet(pattern: RegExp, wide = false): CharSet {
  const set = new Uint8Array(65536);
  for (let code = 0; code < (wide ? 65536 : 128); code++) {
    if (pattern.test(String.fromCharCode(code))) set[code] = 1;
  }
  return set;
}

export function has(set: CharSet, text: string, at: number): boolean {
  return set[text.charCodeAt(at)] === 1;
}

/** The end of the run of `set` that goes through `at`, no further than `limit`. */
export function runEnd(set: CharSet, text: string, at: number, limit = text.length): number {
  let end = at;
  while (end < limit && set[text.charCodeAt(end)] === 1) end++;
  return end;
}

/** The start of the run of `set` that ends before `at`, no further back than `limit`. */
export function runStart(set: CharSet, text: string, at: number, limit = 0): number {
  let start = at;
  while (start > limit && set[text.charCodeAt(start - 1)] === 1) start--;
  return start;
}

/** So many characters are looked at one by one before the regular expression, which is fast once it runs, is started. */
const STEPS = 12;

/** Finds the next character of a set: fast where there are many, and faster where there are few. */
export function finder(pattern: RegExp): (text: string, from: number) => number {
  const set = charSet(pattern);
  const search = new RegExp(pattern.source, "g");
  return (text, from) => {
    const near = Math.min(text.length, from + STEPS);
    for (let at = from; at < near; at++) if (set[text.charCodeAt(at)] === 1) return at;
    if (near === text.length) return near;
    search.lastIndex = near;
    return search.test(text) ? search.lastIndex - 1 : text.length;
  };
}

/** Where the next ASCII digit is; the end of the text when there is none. */
export const nextDigit = finder(/[0-9]/);
