import { ALNUM, DIGIT, flagsOf, is, LETTER, nextDigit } from "../scan/chars.ts";
import type { Probe, Report } from "../scan/probe.ts";

/** Length by country (ISO 13616 registry, and the countries that use the format beside it). */
const LENGTHS: Readonly<Record<string, number>> = Object.fromEntries(
  (
    "AD24 AE23 AL28 AO25 AT20 AZ28 BA20 BE16 BF28 BG22 BH22 BI27 BJ28 BR29 BY28 CF27 CG27 CH21 CI28 CM27 CR22 CV25 " +
    "CY28 CZ24 DE22 DJ27 DK18 DO28 DZ26 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GA27 GB22 GE22 GI23 GL18 GQ27 GR27 GT28 " +
    "GW25 HN28 HR21 HU28 IE22 IL23 IQ23 IR26 IS26 IT27 JO30 KM27 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MA28 " +
    "MC27 MD24 ME22 MG27 MK19 ML28 MN20 MR27 MT31 MU30 MZ25 NE28 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 " +
    "RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SN28 SO23 ST25 SV28 TD27 TG28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30"
  )
    .split(" ")
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

/** Account numbers whose country, length and checksum are right, in one piece or in groups of four. */
export class IbanProbe implements Probe {
  readonly reach = 1;

  scan(text: string, from: number, done: boolean, report: Report): number {
    let at = from;
    for (;;) {
      const digit = nextDigit(text, at);
      if (digit === text.length) break;
      const start = digit - 2;
      at = digit + 1;
      if (
        start < from ||
        !is(text, start, LETTER) ||
        !is(text, start + 1, LETTER) ||
        is(text, start - 1, ALNUM)
      )
        continue;
      const end = ibanEnd(text, start, done);
      if (end === undefined) return start;
      if (end === start) continue;
      report(start, end, "iban");
      at = end;
    }
    return done ? text.length : Math.max(from, at, unfinished(text));
  }
}

/** Where a number starts of which there are only letters yet. */
function unfinished(text: string): number {
  const { length } = text;
  for (const start of [length - 2, length - 1]) {
    if (start < 0 || is(text, start - 1, ALNUM)) continue;
    if (is(text, start, LETTER) && (start + 1 === length || is(text, start + 1, LETTER))) return start;
  }
  return length;
}

/** Where the number ends whose letters and first digit are here; `at` when there is none, undefined when more text is needed to say. */
function ibanEnd(text: string, at: number, done: boolean): number | undefined {
  const { length } = text;
  if (at + 3 >= length) return done ? at : undefined;
  if (!is(text, at + 3, DIGIT)) return at;
  const size = LENGTHS[text.slice(at, at + 2).toUpperCase()];
  if (size === undefined) return at;
  let taken = 4;
  let next = at + 4;
  let rest = 0;
  while (taken < size) {
    if (taken % 4 === 0 && isGap(text, next)) next++;
    if (next >= length) return done ? at : undefined;
    const value = digitValue(text.charCodeAt(next));
    if (value < 0) return at;
    rest = value < 10 ? (rest * 10 + value) % 97 : (rest * 100 + value) % 97;
    taken++;
    next++;
  }
  if (next >= length && !done) return undefined;
  if (is(text, next, ALNUM)) return at;
  for (let i = 0; i < 4; i++) {
    const value = digitValue(text.charCodeAt(at + i));
    rest = value < 10 ? (rest * 10 + value) % 97 : (rest * 100 + value) % 97;
  }
  return rest === 1 ? next : at;
}

function isGap(text: string, at: number): boolean {
  const char = text[at];
  return char === " " || char === "-" || char === "\u00a0" || char === "\u202f";
}

/** 0 to 35, or -1. */
function digitValue(code: number): number {
  const flags = flagsOf(code);
  if (flags & DIGIT) return code - 48;
  return flags & LETTER ? (code & ~32) - 55 : -1;
}
