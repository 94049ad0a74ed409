import { ALNUM, type CharSet, charSet, DIGIT, flagsOf, has, is, runEnd } from "../scan/chars.ts";
import type { Probe, Report } from "../scan/probe.ts";
import { isMadeUp, readsLikeWords } from "./made-up.ts";
import { isSecretValue, NAME_REACH, nameOf } from "./named.ts";
import { rulesAt, SHAPE_MAX, SHAPE_MIN, SHAPES, type TokenRule } from "./rules.ts";

const SHAPED = charSet(/[A-Za-z0-9_~.-]/);
const VALUE = charSet(/[!#-&*+\-./0-9?@A-Z^_a-z|~]/);
const EQUALS = charSet(/=/);
const SAFE = charSet(/[A-Za-z0-9_-]/);
const TOKEN = charSet(/[A-Za-z0-9_.=-]/);
/** A longer value is decided on by its beginning. */
const MAX_VALUE = 256;
const MAX_JWT_HEADER = 1024;

/** Found, not found, or to be told with more text. */
type Answer = { readonly end: number; readonly kind: string; readonly goesOn?: CharSet } | undefined | "more";

/** Keys and tokens: by their prefix, by their shape, or by what they are called. */
export class TokenProbe implements Probe {
  readonly reach = NAME_REACH;
  /** A token that has begun and has no end yet. */
  #open: { readonly set: CharSet; readonly kind: string } | undefined;

  scan(text: string, from: number, done: boolean, report: Report): number {
    const { length } = text;
    let at = this.#goOn(text, from, report);
    while (at < length) {
      const flags = flagsOf(text.charCodeAt(at));
      if ((flags & ALNUM) === 0) {
        at++;
        continue;
      }
      if (is(text, at - 1, ALNUM)) {
        at = wordEnd(text, at);
        continue;
      }
      const found = find(text, at, done);
      if (found === "more") return at;
      if (found === undefined) {
        at = wordEnd(text, at);
        continue;
      }
      report(at, found.end, found.kind);
      at = found.end;
      if (found.goesOn && at === length && !done) this.#open = { set: found.goesOn, kind: found.kind };
    }
    return length;
  }

  #goOn(text: string, from: number, report: Report): number {
    if (this.#open === undefined || from === text.length) return from;
    const { set, kind } = this.#open;
    const end = runEnd(set, text, from);
    if (end > from) report(from, end, kind, true);
    if (end < text.length) this.#open = undefined;
    return end;
  }
}

function wordEnd(text: string, at: number): number {
  let end = at + 1;
  while (is(text, end, ALNUM)) end++;
  return end;
}

function find(text: string, at: number, done: boolean): Answer {
  let undecided = false;
  for (const rule of rulesAt(text, at)) {
    const found = byPrefix(text, at, done, rule);
    if (found === "more") undecided = true;
    else if (found !== undefined) return undecided ? "more" : found; // a rule that comes first may still want it
  }
  if (undecided) return "more";
  return (
    jsonWebToken(text, at, done) ??
    byShape(text, at, done) ??
    telegram(text, at, done) ??
    byName(text, at, done)
  );
}

function byPrefix(text: string, at: number, done: boolean, rule: TokenRule): Answer {
  const { prefix, set, min, max, shape, service } = rule;
  if (!text.startsWith(prefix, at)) return !done && beginsLike(text, at, prefix) ? "more" : undefined;
  const body = at + prefix.length;
  const room = (max ?? min) + 1;
  let end = runEnd(set, text, body, Math.min(text.length, body + room));
  if (end === text.length && end < body + (max === undefined ? min : room) && !done) return "more";
  if (max === undefined) {
    if (end - body < min || isMadeUp(text.slice(body, body + min))) return undefined;
    end = runEnd(set, text, end);
    return { end, kind: service, goesOn: set };
  }
  if (text[end - 1] === ".") end -= 1; // of a sentence
  const size = end - body;
  if (size < min || size > max || is(text, end, ALNUM)) return undefined;
  const value = text.slice(body, end);
  if (shape?.test(value) === false || isMadeUp(value)) return undefined;
  // Letters alone may be words, but not so many of them in a row.
  if (readsLikeWords(value) && (size < 30 || /[-_.]/.test(value))) return undefined;
  return { end, kind: service };
}

function beginsLike(text: string, at: number, prefix: string): boolean {
  return text.length - at < prefix.length && prefix.startsWith(text.slice(at));
}

/** `eyJ…` with a header that names an algorithm. */
function jsonWebToken(text: string, at: number, done: boolean): Answer {
  if (!text.startsWith("eyJ", at)) return !done && beginsLike(text, at, "eyJ") ? "more" : undefined;
  const header = runEnd(SAFE, text, at, Math.min(text.length, at + MAX_JWT_HEADER));
  const payload = runEnd(SAFE, text, header + 1, Math.min(text.length, header + 17));
  if (
    !done &&
    (header === text.length || (text[header] === "." && payload === text.length && payload < header + 17))
  )
    return "more";
  if (text[header] !== "." || payload < header + 11) return undefined;
  if (!/"(?:alg|enc)"/.test(Buffer.from(text.slice(at, header), "base64url").toString("latin1")))
    return undefined;
  return { end: runEnd(TOKEN, text, payload), kind: "jwt", goesOn: TOKEN };
}

function byShape(text: string, at: number, done: boolean): Answer {
  if (has(SHAPED, text, at - 1)) return undefined;
  let end = runEnd(SHAPED, text, at, Math.min(text.length, at + SHAPE_MAX + 1));
  if (end === text.length && end <= at + SHAPE_MAX && !done) return "more";
  if (text[end - 1] === ".") end -= 1;
  if (end - at < SHAPE_MIN || end - at > SHAPE_MAX) return undefined;
  const token = text.slice(at, end);
  const found = SHAPES.find(({ shape }) => shape.test(token));
  return found === undefined || isMadeUp(token) ? undefined : { end, kind: found.service };
}

const TELEGRAM = /^\d{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])/;
const TELEGRAM_SO_FAR = /^\d{1,10}(?::(?:A(?:A[A-Za-z0-9_-]{0,33})?)?)?$/;
const TELEGRAM_MAX = 46;

function telegram(text: string, at: number, done: boolean): Answer {
  if (!is(text, at, DIGIT) || (at + 7 < text.length && !is(text, at + 7, DIGIT))) return undefined;
  const token = text.slice(at, at + TELEGRAM_MAX + 1);
  if (!done && text.length - at <= TELEGRAM_MAX && TELEGRAM_SO_FAR.test(token)) return "more";
  const [found] = TELEGRAM.exec(token) ?? [];
  return found === undefined || isMadeUp(found) ? undefined : { end: at + found.length, kind: "telegram" };
}

function byName(text: string, at: number, done: boolean): Answer {
  const named = nameOf(text, at);
  if (named === undefined) return undefined;
  const limit = at + MAX_VALUE;
  const plain = runEnd(VALUE, text, at, Math.min(text.length, limit));
  const run = runEnd(EQUALS, text, plain, Math.min(text.length, limit, plain + 2)); // as base64 may end
  if (run === text.length && run < limit && !done) return "more";
  let end = run;
  while (end > at && /[.,:;?!&]/.test(text[end - 1] ?? "") && run < limit) end--;
  const value = text.slice(at, end);
  if (!isSecretValue(value, named) || isCutShort(value)) return undefined;
  if (run < limit) return { end, kind: named === "password" ? "password" : "key" };
  return { end: runEnd(VALUE, text, run), kind: "key", goesOn: VALUE };
}

/** Begins like a token of a service and is too short for one. */
function isCutShort(value: string): boolean {
  const known = rulesAt(value, 0).filter(({ prefix }) => value.startsWith(prefix));
  return known.length > 0 && known.every(({ prefix, min }) => value.length < prefix.length + min);
}
