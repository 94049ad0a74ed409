import { charSet, has } from "../scan/chars.ts";
import { Folder } from "../scan/fold.ts";
import { pointAt } from "../scan/point-at.ts";
import type { Probe, Report } from "../scan/probe.ts";
import type { Signal } from "./phrases.ts";
import {
  DROP,
  EARLIER,
  kindsOf,
  LONGEST_WORD,
  ORDERS,
  OWN,
  PROMPT,
  ROLE,
  SECRET,
  SEND,
  TELL,
  withoutAccents,
} from "./words.ts";

/** Within so many words a verb and what it is about belong together. */
const NEAR = 8;
const LONG_AGO = Number.NEGATIVE_INFINITY;
const PLAIN = charSet(/\w/);
/** Room for the longest word, written with accents and with something invisible in it. */
const LONGEST = LONGEST_WORD * 3;
const folder = new Folder();

/**
 * Sentences that order something about the orders: "ignore … previous … instructions", "print … your … prompt", "send …
 * password". Also a line that begins as if somebody else spoke. It counts words and keeps no text.
 */
export class OrderProbe implements Probe {
  readonly reach = 1;
  readonly #signals: ReadonlySet<Signal>;
  #count = 0;
  #drop = LONG_AGO;
  #earlier = LONG_AGO;
  #orders = LONG_AGO;
  #tell = LONG_AGO;
  #own = LONG_AGO;
  #send = LONG_AGO;

  constructor(signals: ReadonlySet<Signal>) {
    this.#signals = signals;
  }

  scan(text: string, from: number, done: boolean, report: Report): number {
    const { length } = text;
    let at = from;
    while (at < length) {
      const code = text.charCodeAt(at);
      if (code < 128 ? !has(PLAIN, text, at) : !folder.of(pointAt(text, at)).word) {
        if (code === 46 || code === 33 || code === 63 || code === 59) this.#endSentence(); // . ! ? ;
        at += 1;
        continue;
      }
      const end = wordEnd(text, at);
      if (end === length && end - at < LONGEST && !done) return at;
      if (end - at < LONGEST) this.#read(text, at, end, plainWord(text.slice(at, end)), report);
      else this.#count += 1;
      at = end;
    }
    return length;
  }

  #read(text: string, start: number, end: number, word: string, report: Report): void {
    const i = ++this.#count;
    const kinds = kindsOf(word);
    if (kinds === 0) return;
    const near = (when: number, reach = NEAR) => i - when <= reach;
    const tell = (signal: Signal) => {
      if (this.#signals.has(signal)) report(start, end, signal);
    };
    if (kinds & ROLE && text[end] === ":" && (start === 0 || text[start - 1] === "\n")) tell("role-marker");
    if (kinds & ORDERS && near(this.#drop) && this.#earlier > this.#drop) tell("ignore-instructions");
    else if (kinds & EARLIER && near(this.#orders, 2) && near(this.#drop) && this.#orders > this.#drop)
      tell("ignore-instructions");
    if (kinds & PROMPT && near(this.#tell, 6) && this.#own > this.#tell) tell("prompt-request");
    if (kinds & SECRET && near(this.#send)) tell("exfiltration");
    if (kinds & DROP) this.#drop = i;
    if (kinds & EARLIER) this.#earlier = i;
    if (kinds & ORDERS) this.#orders = i;
    if (kinds & TELL) this.#tell = i;
    if (kinds & OWN) this.#own = i;
    if (kinds & SEND) this.#send = i;
  }

  #endSentence(): void {
    this.#drop = LONG_AGO;
    this.#tell = LONG_AGO;
    this.#send = LONG_AGO;
  }
}

/** The end of a word, no further than a word can be that is known. */
function wordEnd(text: string, start: number): number {
  const limit = Math.min(text.length, start + LONGEST);
  let end = start;
  while (end < limit) {
    if (text.charCodeAt(end) < 128) {
      if (!has(PLAIN, text, end)) break;
      end += 1;
      continue;
    }
    const point = pointAt(text, end);
    const { units, word } = folder.of(point);
    if (!word && units !== "") break;
    end += point > 0xffff ? 2 : 1;
  }
  return Math.min(end, limit);
}

function plainWord(word: string): string {
  return /^[\0-\u007f]*$/.test(word) ? word.toLowerCase() : withoutAccents(folder.text(word));
}
