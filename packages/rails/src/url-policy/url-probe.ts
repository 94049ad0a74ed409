import { ALNUM, charSet, finder, has, is, LETTER, runEnd, runStart } from "../scan/chars.ts";
import type { Probe, Report } from "../scan/probe.ts";
import { ABSOLUTE, isRelative, leadsToListed, namesHost, targetAllowed, type UrlPolicy } from "./policy.ts";

const SCHEME = charSet(/[A-Za-z0-9+.-]/);
const SLASH = charSet(/[/\\]/);
const SPACE = charSet(/[ \t\r\n]/);
/** What an address in running text goes on with. */
const ADDRESS = charSet(/[^\s<>"`)\]}|]/, true);
/** What one that may stand goes on with; an attribute may end with a quote. */
const PASSED = charSet(/[^\s<>"'`)\]}|]/, true);
/** What a link's target goes on with. */
const TARGET = charSet(/[^\s<>")]/, true);
const AUTHORITY = charSet(/[^\s/\\?#<>"`]/, true);
/** What stands after an address rather than in it. */
const TRAILING = charSet(/[.,;:!?'*_~]/);
const BEFORE_RELATIVE = charSet(/["'(=<`]/);
const nextSign = finder(/[[\]:./\\]/);

const MAX_SCHEME = 32;
const MAX_AUTHORITY = 512;
const MAX_TARGET = 512;
const BEGINNING = 64;
const MAX_SLASHES = 64;
const MAX_DEPTH = 128;
const MAX_TRAILING = 8;
const BARE_ROOM = 12;
const TAG_REACH = 80;

/** Schemes that need no slashes to do something. */
const BARE = /^(?:javascript|vbscript|data)$/;
const IN_TAG = /<(?:img|image|source|video|audio|iframe|embed|object|link|script|input|track)\b[^>]*$/i;
const WEB = /(?:https?|ftp|wss?)$/i;

type Place = "text" | "target";

/** Something that may not stand, where to look on, or from where more text is needed. */
type Answer =
  | { readonly start: number; readonly kind: string; readonly place: Place }
  | { readonly next: number; readonly passing?: Place }
  | { readonly hold: number };

/**
 * Addresses that lead where they may not: with a scheme, with `www.`, as the target of a markdown link, image or
 * definition, in an attribute; also those that hide where they lead.
 */
export class UrlProbe implements Probe {
  readonly reach = TAG_REACH + MAX_SCHEME;
  readonly #policy: UrlPolicy;
  /** For each of the last brackets that are open, whether it began an image. */
  readonly #brackets = new Uint8Array(MAX_DEPTH);
  #depth = 0;
  /** What came last: a bracket that was closed, or what a target follows. */
  #after: { readonly what: "bracket" | "target"; readonly image: boolean } | undefined;
  /** Inside of an address that is taken out. */
  #taking: { readonly place: Place; readonly kind: string; readonly begun: boolean } | undefined;
  /** Inside of one that may stand. What is in it goes where it goes. */
  #passing: Place | undefined;

  constructor(policy: UrlPolicy) {
    this.#policy = policy;
  }

  scan(text: string, from: number, done: boolean, report: Report): number {
    const { length } = text;
    let floor = from; // no match starts before
    let at = from;
    for (;;) {
      if (this.#taking !== undefined) {
        floor = this.#take(text, at, done, report);
        if (this.#taking !== undefined) return floor;
        at = floor;
      }
      if (this.#passing !== undefined) {
        at = runEnd(this.#passing === "text" ? PASSED : TARGET, text, at);
        floor = at;
        if (at < length) this.#passing = undefined;
      }
      if (at >= length) break;
      const answer =
        this.#after === undefined
          ? this.#atSign(text, nextSign(text, at), floor, done)
          : this.#afterBracket(text, at, done);
      if ("hold" in answer) return answer.hold;
      if ("next" in answer) {
        at = answer.next;
        this.#passing = answer.passing;
      } else {
        at = answer.start;
        this.#taking = { place: answer.place, kind: answer.kind, begun: false };
      }
    }
    return done ? length : runStart(SCHEME, text, length, Math.max(floor, length - MAX_SCHEME));
  }

  #atSign(text: string, at: number, floor: number, done: boolean): Answer {
    switch (text[at]) {
      case "[":
        this.#brackets[this.#depth++ % MAX_DEPTH] = text[at - 1] === "!" ? 1 : 0;
        return { next: at + 1 };
      case "]":
        this.#after = { what: "bracket", image: this.#close() };
        return { next: at + 1 };
      case ":":
        return this.#atColon(text, at, floor, done);
      case ".":
        return this.#atDot(text, at, floor, done);
      case undefined:
        return { next: text.length };
      default:
        return this.#atSlash(text, at, floor, done);
    }
  }

  /** Closes the bracket that was opened last; says whether it began an image. */
  #close(): boolean {
    if (this.#depth === 0) return false;
    this.#depth -= 1;
    return this.#brackets[this.#depth % MAX_DEPTH] === 1;
  }

  /** What follows a closed bracket: the target of a link or an image, or of a definition. */
  #afterBracket(text: string, at: number, done: boolean): Answer {
    const { what, image } = this.#after ?? { what: "bracket", image: false };
    const char = text[at];
    if (what === "bracket") {
      const target = char === "(" || char === ":";
      this.#after = target ? { what: "target", image: image && char === "(" } : undefined;
      return { next: target ? at + 1 : at };
    }
    if (has(SPACE, text, at) || char === "<") return { next: at + 1 };
    const beginning = runEnd(TARGET, text, at, Math.min(text.length, at + BEGINNING));
    if (isPlainlyRelative(text, at) || isRelative(text.slice(at, beginning))) {
      this.#after = undefined;
      return { next: at };
    }
    const end = runEnd(TARGET, text, at, Math.min(text.length, at + MAX_TARGET));
    const target = text.slice(at, end);
    const whole = end < text.length || done || end === at + MAX_TARGET;
    if (!whole && !namesHost(target)) return { hold: at };
    this.#after = undefined;
    if (!targetAllowed(target, this.#policy, image))
      return { start: at, kind: image ? "image" : "link", place: "target" };
    return ABSOLUTE.test(target) ? { next: at, passing: "target" } : { next: at };
  }

  /** `https://…`, also with one slash, with backslashes, and `javascript:` without any. */
  #atColon(text: string, at: number, floor: number, done: boolean): Answer {
    const run = runStart(SCHEME, text, at, Math.max(floor, at - MAX_SCHEME));
    const word = text.slice(run, at);
    const web = WEB.exec(word);
    const start = run + (web?.index ?? Math.max(0, word.search(/[A-Za-z]/)));
    const scheme = text.slice(start, at).toLowerCase();
    if (!/^[a-z]/.test(scheme)) return { next: at + 1 };
    const slashes = runEnd(SLASH, text, at + 1, Math.min(text.length, at + 1 + MAX_SLASHES));
    if (slashes === text.length && !done) return { hold: start };
    if (slashes === at + 1) return this.#bare(text, start, at, scheme, done);
    if (web === null && slashes < at + 3) return { next: at + 1 };
    return this.#lead(text, start, slashes, this.#policy.schemes.has(scheme), done);
  }

  /** A scheme without slashes that does something all the same. */
  #bare(text: string, start: number, colon: number, scheme: string, done: boolean): Answer {
    if (this.#policy.schemes.has(scheme) || !BARE.test(scheme)) return { next: colon + 1 };
    const after = text.slice(colon + 1, colon + 1 + BARE_ROOM);
    if (!done && after.length < BARE_ROOM && !/\s/.test(after)) return { hold: start };
    const acts = scheme === "data" ? /^(?:[a-z]+\/|[;,])/i.test(after) : /^\S/.test(after);
    return acts ? { start, kind: "link", place: "text" } : { next: colon + 1 };
  }

  /** `www.example.com` */
  #atDot(text: string, at: number, floor: number, done: boolean): Answer {
    const start = at - 3;
    if (start < floor || is(text, start - 1, ALNUM) || !/^www$/i.test(text.slice(start, at)))
      return { next: at + 1 };
    return this.#lead(text, start, start, true, done);
  }

  /** `//example.com`, where something is named that could be an address. */
  #atSlash(text: string, at: number, floor: number, done: boolean): Answer {
    if (at < floor || text[at] !== "/" || !has(BEFORE_RELATIVE, text, at - 1)) return { next: at + 1 };
    if (at + 1 === text.length && !done) return { hold: at };
    const slashes = runEnd(SLASH, text, at, Math.min(text.length, at + MAX_SLASHES));
    if (slashes === text.length && !done) return { hold: at };
    if (slashes < at + 2 || !(is(text, slashes, ALNUM) || text.charCodeAt(slashes) > 127))
      return { next: slashes };
    return this.#lead(text, at, slashes, true, done);
  }

  /** What starts at `start` names its host from `host` on: may it stand? */
  #lead(text: string, start: number, host: number, schemeAllowed: boolean, done: boolean): Answer {
    const limit = host + MAX_AUTHORITY;
    const end = runEnd(AUTHORITY, text, host, Math.min(text.length, limit));
    if (end === text.length && end < limit && !done) return { hold: start };
    const authority = text.slice(host, end);
    if (authority === "") return { next: host };
    const image = IN_TAG.test(text.slice(Math.max(0, start - TAG_REACH), start));
    // In an attribute a browser drops line breaks, so that the host goes on after one.
    const cut = /["']/.test(text[start - 1] ?? "") && /[\t\r\n]/.test(text[end] ?? "");
    const allowed =
      schemeAllowed &&
      !cut &&
      end < limit &&
      leadsToListed(authority, image ? this.#policy.images : this.#policy.links);
    return allowed
      ? { next: start, passing: "text" }
      : { start, kind: image ? "image" : "link", place: "text" };
  }

  /** Takes an address out, up to where it ends. Signs at the end are the sentence's, unless more of it follows. */
  #take(text: string, at: number, done: boolean, report: Report): number {
    const { place, kind, begun } = this.#taking ?? { place: "text", kind: "", begun: true };
    const end = runEnd(place === "text" ? ADDRESS : TARGET, text, at);
    let cut = end;
    if (place === "text") while (cut > at && end - cut < MAX_TRAILING && has(TRAILING, text, cut - 1)) cut--;
    if (cut > at) report(at, cut, kind, begun);
    this.#taking = end === text.length && !done ? { place, kind, begun: begun || cut > at } : undefined;
    return cut;
  }
}

const PRINTED = charSet(/[!-~]/);

/** A place on the same site that can be told without reading any closer. */
function isPlainlyRelative(text: string, at: number): boolean {
  const word = is(text, at, LETTER) ? runEnd(SCHEME, text, at, Math.min(text.length, at + BEGINNING)) : at;
  const char = text[word];
  if (char === undefined || !has(PRINTED, text, word) || "&\\".includes(char)) return false;
  if (word > at) return char !== ":" && !has(SCHEME, text, word);
  return char !== "/" || (has(PRINTED, text, at + 1) && !"/\\&".includes(text[at + 1] ?? ""));
}
