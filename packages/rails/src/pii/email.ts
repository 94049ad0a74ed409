import { charSet, DIGIT, has, is, LETTER, runEnd, runStart } from "../scan/chars.ts";
import type { Probe, Report } from "../scan/probe.ts";

/** What a mailbox name may hold, in Latin, Greek and Cyrillic. Scripts without spaces would take the sentence along. */
const LOCAL = charSet(/[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}0-9._%+\-']/u, true);
const DOMAIN = charSet(/[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}0-9.-]/u, true);
const MAX_LOCAL = 64;
const MAX_DOMAIN = 255;
const ENCODED_AT = "%40";

/** Addresses of machines that every checkout shows, not of people. */
const NO_PERSON = /^(?:git|hg|svn)$/i;

/** E-mail addresses, also with `%40` as in links. A name is at most 64 characters: of a longer one the last 64 count. */
export class EmailProbe implements Probe {
  readonly reach = 1;

  scan(text: string, from: number, done: boolean, report: Report): number {
    const signs = new Signs(text, from);
    let at = from;
    for (let sign = signs.next(from); sign !== undefined; sign = signs.next(sign.end)) {
      const local = localStart(text, sign.start, at);
      if (local === sign.start) {
        at = sign.start;
        continue;
      }
      const limit = sign.end + MAX_DOMAIN;
      const domain = runEnd(DOMAIN, text, sign.end, Math.min(text.length, limit));
      if (domain === text.length && domain < limit && !done) return local;
      const end = domainEnd(text, sign.end, domain);
      if (end === undefined || NO_PERSON.test(text.slice(local, sign.start))) {
        at = sign.start;
        continue;
      }
      report(local, end, "email");
      at = end;
    }
    if (done) return text.length;
    const held = MAX_LOCAL + ENCODED_AT.length - 1; // the end may be all but the last of `%40`
    return runStart(LOCAL, text, text.length, Math.max(at, text.length - held));
  }
}

interface Sign {
  readonly start: number;
  readonly end: number;
}

/** The signs of a text in order. Each is looked for once, however many of the other sort come first. */
class Signs {
  readonly #text: string;
  #plain: number;
  #encoded: number;

  constructor(text: string, from: number) {
    this.#text = text;
    this.#plain = text.indexOf("@", from);
    this.#encoded = text.indexOf(ENCODED_AT, from);
  }

  next(from: number): Sign | undefined {
    if (this.#plain >= 0 && this.#plain < from) this.#plain = this.#text.indexOf("@", from);
    if (this.#encoded >= 0 && this.#encoded < from) this.#encoded = this.#text.indexOf(ENCODED_AT, from);
    const plain = this.#plain;
    const encoded = this.#encoded;
    if (encoded >= 0 && (plain < 0 || encoded < plain))
      return { start: encoded, end: encoded + ENCODED_AT.length };
    return plain < 0 ? undefined : { start: plain, end: plain + 1 };
  }
}

/** Where the name before the sign starts; at the sign when there is none. */
function localStart(text: string, sign: number, limit: number): number {
  let start = runStart(LOCAL, text, sign, Math.max(limit, sign - MAX_LOCAL));
  while (start < sign && !is(text, start, LETTER | DIGIT) && text.charCodeAt(start) < 128) start++;
  return start;
}

/** The end of the longest domain in a run: labels between dots, the last one of letters. */
function domainEnd(text: string, start: number, runEndsAt: number): number | undefined {
  let best: number | undefined;
  let dots = 0;
  let label = start;
  for (let at = start; at <= runEndsAt; at++) {
    if (at < runEndsAt && text[at] !== ".") continue;
    const end = trimmed(text, label, at);
    if (end === label) break;
    if (dots > 0 && isTopLevel(text, label, end)) best = end;
    if (end < at) break; // what was cut off the label ends the domain
    dots += 1;
    label = at + 1;
  }
  return best ?? addressEnd(text, start, runEndsAt);
}

function trimmed(text: string, label: number, end: number): number {
  let cut = end;
  while (cut > label && text[cut - 1] === "-") cut--;
  return cut;
}

function isTopLevel(text: string, start: number, end: number): boolean {
  if (end - start < 2) return false;
  for (let at = start; at < end; at++) {
    if (is(text, at, DIGIT) || text[at] === "-") return text.startsWith("xn--", start);
  }
  return true;
}

/** An address instead of a name: `root@10.0.0.1`. */
function addressEnd(text: string, start: number, end: number): number | undefined {
  const [found] =
    /^\d{1,3}(?:\.\d{1,3}){3}(?![\d.]\d)/.exec(text.slice(start, Math.min(end + 2, start + 18))) ?? [];
  return found === undefined || !has(DOMAIN, text, start) ? undefined : start + found.length;
}
