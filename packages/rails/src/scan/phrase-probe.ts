import type { Folder } from "./fold.ts";
import { PhraseTree } from "./phrase-tree.ts";
import { pointAt } from "./point-at.ts";
import type { Probe, Report } from "./probe.ts";

/** A phrase as it is looked for. */
export interface Phrase {
  readonly folded: string;
  readonly kind: string;
  /** Whether it may not go on into a word before or after it. */
  readonly wordBefore: boolean;
  readonly wordAfter: boolean;
}

const STARTS_NONE = 1;
const WORD = 2;
const SPACE = 4;

/** Phrases, ready to be looked for. */
export class PhraseSet {
  readonly phrases: readonly Phrase[];
  readonly folder: Folder;
  readonly tree: PhraseTree;
  readonly longest: number;
  /** For each ASCII character, whether no phrase starts with it, and whether it is part of a word or white space. */
  readonly plain = new Uint8Array(128);
  /** What phrases start with that may start inside of a word. */
  readonly #loose = new Set<number>();

  constructor(phrases: readonly Phrase[], folder: Folder) {
    this.phrases = phrases;
    this.folder = folder;
    this.tree = new PhraseTree(phrases.map(({ folded }) => folded));
    this.longest = phrases.reduce((most, { folded }) => Math.max(most, folded.length), 1);
    for (let code = 0; code < 128; code++) {
      const { units, word, space } = folder.of(code);
      if (units === "" || this.tree.starts(units.charCodeAt(0))) continue;
      this.plain[code] = STARTS_NONE | (word ? WORD : 0) | (space ? SPACE : 0);
    }
    for (const { folded, wordBefore } of phrases) if (!wordBefore) this.#loose.add(folded.charCodeAt(0));
  }

  /** Whether no phrase that starts with this may start inside of a word. */
  needsBoundary(unit: number): boolean {
    return !this.#loose.has(unit);
  }
}

interface Ended {
  readonly start: number;
  readonly end: number;
  readonly phrase: Phrase;
}

/** More of what is not seen than this, or of white space, is not inside of a phrase. */
const MAX_GAP = 64;
const IN_WORD = 1;
const STARTS_NOTHING = 2;

/** Looks for phrases, whatever their case and form, with any white space between their words. */
export class PhraseProbe implements Probe {
  readonly reach = 0;
  readonly #set: PhraseSet;
  /** For the last units that were compared: where their character starts, and whether a phrase can start there. */
  readonly #starts: Float64Array;
  readonly #inside: Uint8Array;
  readonly #size: number;
  #units = 0;
  #node = 0;
  /** Where in the whole text the next scan starts, and how far ahead of it everything has been seen. */
  #origin = 0;
  #ahead = 0;
  #afterWord = false;
  #afterSpace = false;
  #gap = 0;
  /** Phrases that stand unless a letter follows. */
  #ended: Ended[] = [];

  constructor(set: PhraseSet) {
    this.#set = set;
    this.#size = set.longest + 1;
    this.#starts = new Float64Array(this.#size);
    this.#inside = new Uint8Array(this.#size);
  }

  scan(text: string, from: number, done: boolean, report: Report): number {
    const { length } = text;
    const shift = this.#origin - from;
    const settle = (follows: boolean) => {
      for (const { start, end, phrase } of this.#ended) {
        if (!follows || !phrase.wordAfter) report(start - shift, end - shift, phrase.kind);
      }
      this.#ended = [];
    };
    const { plain, folder } = this.#set;
    let at = from + this.#ahead;
    while (at < length) {
      let point = text.charCodeAt(at);
      if (point < 128 && this.#node === 0 && this.#ended.length === 0) {
        const flags = plain[point] ?? 0;
        if (flags !== 0) {
          this.#afterWord = (flags & WORD) !== 0;
          this.#afterSpace = (flags & SPACE) !== 0;
          this.#gap = 0;
          at += 1;
          continue;
        }
      }
      let size = 1;
      if (point >= 0xd800 && point <= 0xdbff) {
        if (at + 1 === length && !done) break;
        point = pointAt(text, at);
        size = point > 0xffff ? 2 : 1;
      }
      const { units, space, word } = folder.of(point);
      const skipped = units === "" || (space && this.#afterSpace);
      if (skipped && ++this.#gap > MAX_GAP) {
        settle(false);
        this.#node = 0;
        this.#afterWord = false;
      }
      if (!skipped) {
        if (this.#ended.length > 0) settle(word);
        this.#see(units, at + shift, at + size + shift);
        this.#afterWord = word;
        this.#afterSpace = space;
        this.#gap = 0;
      }
      at += size;
    }
    if (done) settle(false);
    const sure = done ? length : Math.min(at, this.#earliest() - shift);
    this.#origin = sure + shift;
    this.#ahead = at - sure;
    return sure;
  }

  /** One character, as it is compared. */
  #see(units: string, start: number, end: number): void {
    const { tree, phrases } = this.#set;
    for (let i = 0; i < units.length; i++) {
      const unit = units.charCodeAt(i);
      if (this.#node === tree.root && !tree.starts(unit)) continue;
      this.#node = tree.step(this.#node, unit);
      const slot = this.#units % this.#size;
      this.#starts[slot] = start;
      this.#inside[slot] = this.#afterWord ? (this.#set.needsBoundary(unit) ? STARTS_NOTHING : IN_WORD) : 0;
      this.#units += 1;
    }
    if (this.#node === tree.root) return;
    for (const index of tree.endsAt(this.#node)) {
      const phrase = phrases[index];
      if (phrase === undefined) continue;
      const slot = this.#slotOf(phrase.folded.length);
      if (phrase.wordBefore && this.#inside[slot] !== 0) continue;
      this.#ended.push({ start: this.#starts[slot] ?? start, end, phrase });
    }
  }

  #slotOf(unitsBack: number): number {
    return (this.#units - unitsBack + this.#size) % this.#size;
  }

  /** Where the first phrase starts that may still come of what was seen. */
  #earliest(): number {
    const { tree } = this.#set;
    let earliest = Number.POSITIVE_INFINITY;
    for (const { start } of this.#ended) earliest = Math.min(earliest, start);
    for (let node = this.#node; node !== tree.root; node = tree.shorter(node)) {
      const slot = this.#slotOf(tree.depth(node));
      if (this.#inside[slot] === STARTS_NOTHING) continue;
      return Math.min(earliest, this.#starts[slot] ?? 0);
    }
    return earliest;
  }
}
