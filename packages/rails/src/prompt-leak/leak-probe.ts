import { pointAt } from "../scan/point-at.ts";
import type { Probe, Report } from "../scan/probe.ts";
import { lettersOf } from "./letters.ts";
import type { Substrings } from "./substrings.ts";

/** After so much that is no letter, what was read before counts no more. */
const MAX_GAP = 64;

/** Passages of a text that stand letter for letter in other texts, from a certain length on. */
export class LeakProbe implements Probe {
  readonly reach = 0;
  readonly #substrings: Substrings;
  readonly #least: number;
  /** Where the characters of the last letters start. */
  readonly #starts: Float64Array;
  #letters = 0;
  #state = 0;
  /** How many of the last letters stand in the other texts in a row. */
  #matched = 0;
  #gap = 0;
  /** Where in the whole text the next scan starts, and how far ahead of it everything has been read. */
  #origin = 0;
  #ahead = 0;
  /** Where what was reported ends. */
  #reported = 0;

  constructor(substrings: Substrings, least: number) {
    this.#substrings = substrings;
    this.#least = least;
    this.#starts = new Float64Array(least);
  }

  scan(text: string, from: number, done: boolean, report: Report): number {
    const { length } = text;
    const shift = this.#origin - from;
    let passage: { start: number; end: number; glued: boolean } | undefined;
    const tell = () => {
      if (passage) report(passage.start - shift, passage.end - shift, "passage", passage.glued);
      passage = undefined;
    };
    let at = from + this.#ahead;
    while (at < length) {
      let point = text.charCodeAt(at);
      let size = 1;
      if (point >= 0xd800 && point <= 0xdbff) {
        if (at + 1 === length && !done) break;
        point = pointAt(text, at);
        size = point > 0xffff ? 2 : 1;
      }
      if (this.#read(lettersOf(point), at + shift)) {
        const start = Math.max(this.#reported, this.#startOf(this.#least));
        const end = at + size + shift;
        const goesOn = this.#reported > 0 && this.#startOf(this.#least) <= this.#reported;
        if (passage && start <= passage.end) passage.end = end;
        else {
          tell();
          passage = { start, end, glued: goesOn };
        }
        this.#reported = end;
      }
      at += size;
    }
    tell();
    const open =
      this.#matched === 0 ? Number.POSITIVE_INFINITY : this.#startOf(Math.min(this.#matched, this.#least));
    const sure = done ? length : Math.min(at, Math.max(this.#reported, open) - shift);
    this.#origin = sure + shift;
    this.#ahead = at - sure;
    return sure;
  }

  /** Reads one character; says whether it ends a passage that is long enough. */
  #read(letters: string, start: number): boolean {
    if (letters === "") {
      if (++this.#gap > MAX_GAP) this.#forget();
      return false;
    }
    this.#gap = 0;
    for (let i = 0; i < letters.length; i++) {
      this.#starts[this.#letters++ % this.#least] = start;
      this.#step(letters.charCodeAt(i));
    }
    return this.#matched >= this.#least;
  }

  #step(unit: number): void {
    const substrings = this.#substrings;
    let next = substrings.step(this.#state, unit);
    while (next < 0 && this.#state !== 0) {
      this.#state = substrings.shorter(this.#state);
      this.#matched = substrings.length(this.#state);
      next = substrings.step(this.#state, unit);
    }
    if (next < 0) return;
    this.#state = next;
    this.#matched += 1;
  }

  #forget(): void {
    this.#state = 0;
    this.#matched = 0;
  }

  /** Where the character starts that is so many letters back. */
  #startOf(lettersBack: number): number {
    return this.#starts[(this.#letters - lettersBack + this.#least) % this.#least] ?? 0;
  }
}
