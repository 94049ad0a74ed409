import { charSet, DIGIT, is, nextDigit, runStart } from "../scan/chars.ts";
import type { Probe, Report } from "../scan/probe.ts";
import { isCard } from "./card.ts";
import { DigitGroups, letterAt, MAX_DIGITS } from "./digit-groups.ts";
import { isVersion, socialSecurityWord } from "./number-context.ts";
import { phoneEnd } from "./phone.ts";

export type NumberKind = "phone" | "card" | "ssn" | "ip";

const LEAD = charSet(/[+(]/);

/** Card, social security and phone numbers and IPv4 addresses: what is made of groups of digits. */
export class NumberProbe implements Probe {
  readonly reach = 64;
  readonly #kinds: ReadonlySet<NumberKind>;

  constructor(kinds: ReadonlySet<NumberKind>) {
    this.#kinds = kinds;
  }

  scan(text: string, from: number, done: boolean, report: Report): number {
    const { length } = text;
    const groups = new DigitGroups(text, done);
    let floor = from; // what is before is settled
    let at = from;
    while (at < length) {
      at = nextDigit(text, at);
      if (at === length) break;
      if (is(text, at - 1, DIGIT)) {
        at++; // inside of one that is too long to be anything
        continue;
      }
      groups.readAt(at, floor);
      do {
        if (groups.undecided) return groups.start;
        const found = this.#find(groups);
        if (found === "more") return groups.start;
        at = groups.end(1);
        if (found === undefined) continue;
        report(groups.start, found.end, found.kind);
        floor = found.end;
        at = found.end;
        break;
      } while (groups.shift());
    }
    return done ? length : runStart(LEAD, text, length, Math.max(floor, length - 2));
  }

  #find(groups: DigitGroups): { end: number; kind: NumberKind } | "more" | undefined {
    if (groups.size(0) === 1 && groups.size(1) === 1 && groups.gap(1) !== ".") return undefined; // `1 1 1`, in a hurry
    if (!groups.startsFree) return undefined;
    const ip = this.#kinds.has("ip") ? ipv4End(groups) : undefined;
    if (ip !== undefined) return { end: ip, kind: "ip" };
    const card = this.#kinds.has("card") ? cardEnd(groups) : undefined;
    if (card !== undefined) return { end: card, kind: "card" };
    const ssn = this.#kinds.has("ssn") ? ssnEnd(groups) : undefined;
    if (ssn !== undefined) return { end: ssn, kind: "ssn" };
    const phone = this.#kinds.has("phone") ? phoneEnd(groups) : undefined;
    return typeof phone === "number" ? { end: phone, kind: "phone" } : phone;
  }
}

/** Addresses anybody may have. */
const NO_ADDRESS: readonly string[] = ["127.0.0.1", "0.0.0.0", "255.255.255.255"];

function ipv4End(groups: DigitGroups): number | undefined {
  if (groups.count < 4 || groups.size(0) > 3 || groups.lead.includes("+")) return undefined;
  for (let i = 0; i < 4; i++) {
    if (i > 0 && groups.gap(i) !== ".") return undefined;
    if (groups.size(i) > 3 || Number(groups.group(i)) > 255) return undefined;
  }
  if (groups.gap(4).startsWith(".")) return undefined;
  const end = groups.end(4);
  if (letterAt(groups.text, end) || isVersion(groups.text, groups.start)) return undefined;
  const address = groups.text.slice(groups.start + groups.lead.length, end);
  return NO_ADDRESS.includes(address) ? undefined : end;
}

const CARD_GAP = /^[ \u00a0\u2009\u202f.\-\u2010-\u2013]$/;

/** One group, or up to six with the same sign between them. Of several that pass, the longest. */
function cardEnd(groups: DigitGroups): number | undefined {
  let best: number | undefined;
  let total = 0;
  for (let count = 1; count <= Math.min(groups.count, 6); count++) {
    const i = count - 1;
    if (i > 0 && groups.size(i - 1) < (i === 1 ? 4 : 3)) break; // only the last group may be shorter
    if (i > 0 && (!CARD_GAP.test(groups.gap(i)) || groups.gap(i) !== groups.gap(1))) break;
    total += groups.size(i);
    if (total > MAX_DIGITS) break;
    if (total >= 12 && groups.endsFree(count) && isCard(groups.digits(count))) best = groups.end(count);
  }
  return best;
}

function ssnEnd(groups: DigitGroups): number | undefined {
  const grouped = groups.size(0) === 3 && groups.size(1) === 2 && groups.size(2) === 4;
  if (!grouped && groups.size(0) !== 9) return undefined;
  if (grouped && groups.gap(1) !== groups.gap(2)) return undefined;
  const count = grouped ? 3 : 1;
  if (!groups.endsFree(count) || groups.lead.includes("+")) return undefined;
  if (/^(?:000|666)|^.{3}00|0000$/.test(groups.digits(count))) return undefined; // never given out
  if (grouped && /^[-\u2010-\u2013]$/.test(groups.gap(1))) return groups.end(3);
  return socialSecurityWord(groups.text, groups.start) ? groups.end(count) : undefined;
}
