import { Folder } from "../scan/fold.ts";
import type { Probe, Report } from "../scan/probe.ts";
import type { Signal } from "./phrases.ts";
import { DROP, EARLIER, kindsOf, LONGEST_WORD, ORDERS, OWN, PROMPT, ROLE, SECRET, SEND, TELL, withoutAccents } from "./words.ts";

/** Within so many words a verb and what it is about belong together. */
const NEAR = 8;
const LONG_AGO = Number.NEGATIVE_INFINITY;
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
      const first = folder.of(pointAt(text, at));
      if (!first.word) {
        if (".!?;".includes(text[at] ?? "")) this.#endSentence();
        at += 1;
        continue;
      }
      let word = "";
      let end = at;
      for (; end < length && word.length <= LONGEST_WORD; end += pointAt(text, end) > 0xffff ? 2 : 1) {
        const { units, word: letter } = folder.of(pointAt(text, end));
        if (!letter && units !== "") break;
        word += units;
      }
      if (end >= length && word.length <= LONGEST_WORD && !done) return at;
      this.#read(text, at, end, withoutAccents(word), report);
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
    else if (kinds & EARLIER && near(this.#orders, 2) && near(this.#drop) && this.#orders > this.#drop) tell("ignore-instructions");
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

function pointAt(text: string, at: number): number {
  return text.codePointAt(at) ?? 0;
}
