import { pointAt } from "../scan/point-at.ts";
import type { Probe, Report } from "../scan/probe.ts";
import {
  AFTER_PICTURE,
  BREAK,
  classOf,
  FILLER,
  HIDDEN,
  HIGH,
  IDEOGRAPH,
  JAMO,
  JOINER,
  JOINING,
  MARK,
  MONGOLIAN,
  PICTURE,
  RIGHT_TO_LEFT,
  SEEN,
  SELECTOR,
  TWO_LOOKS,
  UNSPACED,
  VARIANTS,
  wideClassOf,
} from "./classes.ts";

/** The flags of England, Scotland and Wales are a black flag with tags behind it: the only tags that are emoji. */
const FLAG = "\u{1f3f4}";
const FLAG_TAGS: readonly string[] = ["gbeng", "gbsct", "gbwls"].map(
  (name) =>
    `${[...name].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join("")}\u{e007f}`,
);
const TAGS_LENGTH = 12;

/** Nothing but ASCII and the letters after it, at speed. */
const PLAIN_END = 0xad;

/** Characters that cannot be seen, but for those that emoji and scripts need where they stand. */
export class InvisibleProbe implements Probe {
  readonly reach = 8;

  scan(text: string, from: number, done: boolean, report: Report): number {
    const { length } = text;
    let start = -1; // of a run of what is found
    let kind = "";
    let at = from;
    while (at < length) {
      const code = text.charCodeAt(at);
      let found = SEEN;
      let size = 1;
      if (code >= PLAIN_END) {
        found = classOf(code);
        if (found === HIGH) {
          if (at + 1 === length && !done) break;
          const point = pointAt(text, at);
          size = point > 0xffff ? 2 : 1;
          found = size === 2 ? wideClassOf(point) : SEEN;
        }
      }
      if (found !== SEEN) {
        const needed = neededLength(text, at, found, size, done);
        if (needed === undefined) break;
        if (needed === 0) {
          const name = nameOf(pointAt(text, at), found);
          if (start >= 0 && name !== kind) {
            report(start, at, kind);
            start = -1;
          }
          if (start < 0) start = at;
          kind = name;
          at += size;
          continue;
        }
        size = needed;
      }
      if (start >= 0) {
        report(start, at, kind);
        start = -1;
      }
      at += size;
    }
    if (start >= 0) report(start, at, kind);
    return at;
  }
}

/** How much from here on belongs in the text; 0 when this character does not, undefined when more has to be seen. */
function neededLength(
  text: string,
  at: number,
  found: number,
  size: number,
  done: boolean,
): number | undefined {
  switch (found) {
    case JOINER:
      return joins(text, at, done);
    case SELECTOR:
      return selects(text, at) ? size : 0;
    case BREAK:
      return between(text, at, UNSPACED, done);
    case MARK:
      return RIGHT_TO_LEFT.test(letterBefore(text, at)) ? 1 : between(text, at, RIGHT_TO_LEFT, done);
    case FILLER:
      return between(text, at, JAMO, done);
    case HIDDEN:
      return size === 2 ? flagTags(text, at, done) : 0;
    default:
      return size;
  }
}

/** A joiner stands after a letter of a script that has joiners, or between two pictures. */
function joins(text: string, at: number, done: boolean): number | undefined {
  const before = pointBefore(text, at);
  if (JOINING.test(before)) return 1;
  if (text.charCodeAt(at) !== 0x200d) return 0;
  let picture = before;
  let place = at - before.length;
  for (let i = 0; i < 2 && AFTER_PICTURE.test(picture); i++) {
    picture = pointBefore(text, place);
    place -= picture.length;
  }
  if (!PICTURE.test(picture)) return 0;
  const after = pointAfter(text, at + 1, done);
  if (after === undefined) return undefined;
  return PICTURE.test(after) ? 1 : 0;
}

/** One selector, after something that has variants. A second one picks nothing. */
function selects(text: string, at: number): boolean {
  const before = pointBefore(text, at);
  const point = pointAt(text, at);
  if (point >= 0xe0100) return IDEOGRAPH.test(before);
  if (point < 0xfe00) return MONGOLIAN.test(before);
  return point >= 0xfe0e ? TWO_LOOKS.test(before) || VARIANTS.test(before) : VARIANTS.test(before);
}

/** A mark stands next to a letter that makes use of it, and not next to another mark. */
function between(text: string, at: number, letters: RegExp, done: boolean): number | undefined {
  const before = pointBefore(text, at);
  if (letters.test(before)) return 1;
  if (classOf(before.charCodeAt(0)) > SEEN && classOf(before.charCodeAt(0)) < HIGH) return 0;
  const after = pointAfter(text, at + 1, done);
  return after === undefined ? undefined : letters.test(after) ? 1 : 0;
}

const BETWEEN_LETTERS = /[\s\p{P}\p{N}]/u;

/** The letter before, behind a few signs or digits. */
function letterBefore(text: string, at: number): string {
  let place = at - 1;
  while (place > 0 && at - place <= 4 && BETWEEN_LETTERS.test(text[place] ?? "")) place--;
  return text[place] ?? "";
}

function flagTags(text: string, at: number, done: boolean): number | undefined {
  if (!text.endsWith(FLAG, at)) return 0;
  const tags = text.slice(at, at + TAGS_LENGTH);
  if (FLAG_TAGS.includes(tags)) return TAGS_LENGTH;
  const cut = !done && text.length - at < TAGS_LENGTH;
  return cut && FLAG_TAGS.some((known) => known.startsWith(tags)) ? undefined : 0;
}

function pointBefore(text: string, at: number): string {
  const low = text.charCodeAt(at - 1);
  const pair = low >= 0xdc00 && low <= 0xdfff && classOf(text.charCodeAt(at - 2)) === HIGH;
  return text.slice(Math.max(0, at - (pair ? 2 : 1)), at);
}

function pointAfter(text: string, at: number, done: boolean): string | undefined {
  const code = text.charCodeAt(at);
  if (Number.isNaN(code)) return done ? "" : undefined;
  if (classOf(code) !== HIGH) return text[at];
  return at + 1 === text.length && !done ? undefined : text.slice(at, at + 2);
}

function nameOf(point: number, found: number): string {
  if (point >= 0xe0000 && point <= 0xe00ff) return "tag";
  if (found === SELECTOR) return "variation-selector";
  if (found === MARK || (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069))
    return "bidi";
  return "zero-width";
}
