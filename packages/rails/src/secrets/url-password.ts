import { charSet, runEnd, runStart } from "../scan/chars.ts";
import type { Probe, Report } from "../scan/probe.ts";
import { isMadeUp } from "./made-up.ts";

const USER = charSet(/[!$&'()*+,;=\-.0-9A-Z_a-z~%]/);
const PASSWORD = charSet(/[!$&'()*+,;=\-.0-9A-Z_a-z~%:#?^|{}[\]]/);
const MAX_USER = 64;
const MAX_PASSWORD = 200;

/** What stands in examples. */
const PLACEHOLDER =
  /^(?:pass(?:word|wd)?|pwd|pw|secret|user(?:name)?|root|admin|postgres|mysql|guest|test|example|changeme|token|p4ss|[xX*.]+|\$.*|%[A-Za-z]|\{.*\}|\[.*\])$/i;

/** Passwords in addresses and connection strings: `postgres://app:…@db/orders`. */
export class UrlPasswordProbe implements Probe {
  readonly reach = MAX_USER + 4;

  scan(text: string, from: number, done: boolean, report: Report): number {
    const { length } = text;
    let at = from;
    for (;;) {
      const colon = text.indexOf(":", Math.max(0, at - 1));
      const start = colon + 1;
      if (colon < 0) return length;
      at = start + 1;
      const user = runStart(USER, text, colon, Math.max(0, colon - MAX_USER));
      if (start < from || !text.endsWith("://", user)) continue;
      const limit = start + MAX_PASSWORD;
      const end = runEnd(PASSWORD, text, start, Math.min(length, limit));
      if (end === length && end < limit && !done) return start;
      if (text[end] !== "@" || end === start) continue;
      const password = text.slice(start, end);
      if (PLACEHOLDER.test(password) || (password.length >= 8 && isMadeUp(password))) continue;
      report(start, end, "url-password");
      at = end + 1;
    }
  }
}
