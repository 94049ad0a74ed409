import { ALNUM, charSet, DIGIT, flagsOf, has, is, LETTER, runStart } from "../scan/chars.ts";

/** Enough for the longest thing that is looked for. */
const MAX_GROUPS = 9;
/** A longer run of digits is no part of anything that is looked for. */
export const MAX_DIGITS = 19;
const MAX_GAP = 3;
const GAP = charSet(/[ \u00a0\u2009\u202f.\-\u2010-\u2013/()]/, true);
const LEAD = charSet(/[+(]/);
const MAX_LEAD = 2;
const TOKEN = charSet(/[A-Za-z0-9]/);
/** How far back a token is looked at to tell `card-4111…` from a part of an identifier. */
const TOKEN_REACH = 12;

/**
 * A view on groups of digits with little between them, such as `+46 (0)8 928 571 38`, and on what is around them. It moves
 * from group to group; each is read once.
 */
export class DigitGroups {
  readonly text: string;
  readonly done: boolean;
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  #next: number | undefined;
  #more = false;
  /** The first group with the `+` or `(` before it. */
  start = 0;

  constructor(text: string, done: boolean) {
    this.text = text;
    this.done = done;
  }

  /** Starts at a digit. What is before `floor` belongs to something else. */
  readAt(digit: number, floor: number): void {
    this.#starts.length = 0;
    this.#ends.length = 0;
    this.#next = digit;
    this.#more = false;
    this.#fill();
    this.#begin(floor);
  }

  /** Goes on with the next group; says whether there is one. */
  shift(): boolean {
    const floor = this.#ends.shift() ?? 0;
    this.#starts.shift();
    this.#fill();
    this.#begin(floor);
    return this.#starts.length > 0;
  }

  /** More text is needed to know these groups, or what follows them. */
  get undecided(): boolean {
    return this.#more;
  }

  get count(): number {
    return this.#starts.length;
  }

  size(i: number): number {
    return (this.#ends[i] ?? 0) - (this.#starts[i] ?? 0);
  }

  /** The digits of one group. */
  group(i: number): string {
    return this.text.slice(this.#starts[i] ?? 0, this.#ends[i] ?? 0);
  }

  /** The digits of the first so many groups. */
  digits(count: number): string {
    let digits = "";
    for (let i = 0; i < count; i++) digits += this.group(i);
    return digits;
  }

  total(count: number): number {
    let total = 0;
    for (let i = 0; i < count; i++) total += this.size(i);
    return total;
  }

  /** What stands between a group and the one before. */
  gap(i: number): string {
    return i === 0 || i >= this.count ? "" : this.text.slice(this.#ends[i - 1], this.#starts[i]);
  }

  get lead(): string {
    return this.text.slice(this.start, this.#starts[0]);
  }

  end(count: number): number {
    return this.#ends[count - 1] ?? this.start;
  }

  /** Nothing stands before that makes this a part of something else. */
  get startsFree(): boolean {
    const { text, start } = this;
    const code = text.charCodeAt(start - 1);
    if (flagsOf(code) & ALNUM) return false;
    const before = text[start - 1];
    if (before === undefined) return true;
    if ("$€£¥".includes(before)) return false;
    if (before === "," || before === ":") return !is(text, start - 2, DIGIT);
    if (!"-._/\u2010\u2011\u2012\u2013".includes(before)) return true;
    const token = runStart(TOKEN, text, start - 1, Math.max(0, start - 1 - TOKEN_REACH));
    for (let at = token; at < start - 1; at++) if (is(text, at, DIGIT)) return false;
    return true;
  }

  /** Nothing follows so many groups that makes them a part of something else. */
  endsFree(count: number): boolean {
    if (count < this.count) return isSpace(this.gap(count));
    const end = this.end(count);
    const next = this.text[end];
    if (next === undefined) return true;
    if (is(this.text, end, ALNUM) || next === "_" || next === "%") return false;
    return !((next === ":" || next === ",") && is(this.text, end + 1, DIGIT)); // a time, an amount
  }

  #begin(floor: number): void {
    const first = this.#starts[0] ?? this.text.length;
    this.start = runStart(LEAD, this.text, first, Math.max(floor, first - MAX_LEAD));
  }

  #fill(): void {
    const { text, done } = this;
    while (this.#next !== undefined && this.#starts.length < MAX_GROUPS) {
      const start = this.#next;
      let end = start + 1;
      while (is(text, end, DIGIT)) end++;
      this.#starts.push(start);
      this.#ends.push(end);
      this.#next = undefined;
      if (end - start > MAX_DIGITS) return;
      let next = end;
      while (next - end <= MAX_GAP && has(GAP, text, next)) next++;
      const cut =
        next >= text.length || (next === end && next + 1 >= text.length && ":,xX".includes(text[next] ?? ""));
      if (cut && next - end <= MAX_GAP) this.#more = !done;
      else if (next > end && next - end <= MAX_GAP && is(text, next, DIGIT)) this.#next = next;
    }
  }
}

export function isSpace(gap: string): boolean {
  return gap !== "" && /^[ \u00a0\u2009\u202f]*\(?$/.test(gap);
}

/** Whether a letter follows. */
export function letterAt(text: string, at: number): boolean {
  return is(text, at, LETTER);
}
