import { charSet, runEnd } from "../scan/chars.ts";
import type { Probe, Report } from "../scan/probe.ts";

const BEGIN = "-----BEGIN ";
const HEAD = /^-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----/;
const HEAD_ROOM = 64;
/** What a key is written with: base64 in lines, the headers of older ones, and `\n` where it is a string. */
const BODY = charSet(/[A-Za-z0-9+/=\s:,.\\()-]/);
const MIN_BODY = 64;
const KEY_LINE = /[A-Za-z0-9+/=]{40}/;

/** Private keys in PEM, up to the line that ends them. */
export class PemProbe implements Probe {
  readonly reach = 0;
  /** Inside of a key: what came last, so that its end can be told. */
  #tail: string | undefined;

  scan(text: string, from: number, done: boolean, report: Report): number {
    let at = this.#goOn(text, from, report);
    while (at < text.length) {
      const begin = text.indexOf(BEGIN, at);
      if (begin < 0) return done ? text.length : Math.max(at, beginning(text));
      const head = text.slice(begin, begin + HEAD_ROOM);
      const [found] = HEAD.exec(head) ?? [];
      if (found === undefined) {
        if (!done && text.length - begin < HEAD_ROOM && /^-----BEGIN [A-Z0-9 ]*-{0,4}$/.test(head))
          return begin;
        at = begin + BEGIN.length;
        continue;
      }
      const body = begin + found.length;
      const room = body + MIN_BODY;
      const end = runEnd(BODY, text, body, Math.min(text.length, room));
      if (end === text.length && end < room && !done) return begin;
      if (end < room && !KEY_LINE.test(text.slice(body, end))) {
        at = body;
        continue;
      }
      this.#tail = "";
      report(begin, body, "private-key");
      at = this.#goOn(text, body, report);
    }
    return text.length;
  }

  /** Takes what still belongs to the key. */
  #goOn(text: string, from: number, report: Report): number {
    if (this.#tail === undefined || from === text.length) return from;
    const run = runEnd(BODY, text, from);
    const seen = this.#tail + text.slice(from, run);
    const end = END.exec(seen);
    const stop = end === null ? run : from - this.#tail.length + end.index + end[0].length;
    this.#tail = end === null && run === text.length ? seen.slice(-END_ROOM) : undefined;
    if (stop > from) report(from, stop, "private-key", true);
    return Math.max(stop, from);
  }
}

const END = /-----END [A-Z0-9 ]{0,40}-----/;
const END_ROOM = 60;

/** Where the first line of a key has begun at the end of a text. */
function beginning(text: string): number {
  for (let size = Math.min(BEGIN.length - 1, text.length); size > 0; size--) {
    if (text.endsWith(BEGIN.slice(0, size))) return text.length - size;
  }
  return text.length;
}
