import { ALNUM, charSet, has, is, runEnd, runStart } from "../scan/chars.ts";
import type { Probe, Report } from "../scan/probe.ts";

const ADDRESS = charSet(/[0-9A-Fa-f:.]/);
/** The longest form, eight groups of which the last two are written as IPv4. */
const MAX_LENGTH = 45;

/** IPv6 addresses; not `::1`, which is everybody's own, and not what reads as a name in code, such as `a::b`. */
export class Ipv6Probe implements Probe {
  readonly reach = 1;

  scan(text: string, from: number, done: boolean, report: Report): number {
    const { length } = text;
    let at = from;
    for (let colon = text.indexOf(":", at); colon >= 0; colon = text.indexOf(":", at)) {
      const start = runStart(ADDRESS, text, colon, Math.max(at, colon - MAX_LENGTH));
      const limit = start + MAX_LENGTH + 2;
      const end = runEnd(ADDRESS, text, colon, Math.min(length, limit));
      const inside = is(text, start - 1, ALNUM) || has(ADDRESS, text, start - 1);
      if (!inside && end === length && end < limit && !done) return start;
      if (!inside && end < limit && !is(text, end, ALNUM)) {
        const found = addressEnd(text, start, end);
        if (found !== undefined) report(start, found, "ip");
      }
      at = end;
    }
    if (done) return length;
    const last = runStart(ADDRESS, text, length, Math.max(at, length - MAX_LENGTH));
    return is(text, last - 1, ALNUM) || has(ADDRESS, text, last - 1) ? length : last;
  }
}

function addressEnd(text: string, start: number, end: number): number | undefined {
  const run = text.slice(start, end);
  const first = run.indexOf(":");
  if (first < 0 || run.indexOf(":", first + 1) < 0) return undefined;
  if (isAddress(run)) return end;
  return isAddress(run.slice(0, -1)) && /[.:]$/.test(run) ? end - 1 : undefined; // the end of a sentence, or a colon
}

const GROUP = /^[0-9a-f]{1,4}$/i;
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.|$)){4}$/;

function isAddress(text: string): boolean {
  const halves = text.split("::");
  const [head = "", tail = ""] = halves;
  if (halves.length > 2) return false;
  const groups = [...(head === "" ? [] : head.split(":")), ...(tail === "" ? [] : tail.split(":"))];
  const last = groups.at(-1) ?? "";
  const size = groups.length + (last.includes(".") ? 1 : 0);
  const wellFormed = groups.every(
    (group, i) => GROUP.test(group) || (i === groups.length - 1 && IPV4.test(group)),
  );
  if (!wellFormed) return false;
  if (halves.length === 1) return size === 8;
  return size >= 2 && size <= 7 && /\d/.test(text);
}
