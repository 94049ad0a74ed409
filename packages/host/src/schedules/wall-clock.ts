import { AgentConfigError } from "trackside";
import { issueAt } from "../agents/issues.ts";

/** Longer than any zone has ever moved its clocks, and shorter than the time between two such changes. */
const AROUND_MS = 48 * 3_600_000;

/**
 * What clocks on the wall of a time zone show. Times on the wall are Unix ms as if the wall were in UTC, so that they can be
 * counted with.
 */
export interface WallClock {
  /** As the database of zones writes it. */
  readonly zone: string;
  /** What it shows at a moment. */
  at(instant: number): number;
  /**
   * When it shows this. The first time, where it does so twice; where it never does, because it is set forward over it, the
   * moment it is.
   */
  moment(wall: number): number;
}

const known = new Map<string, WallClock>();
const MOST_KNOWN = 500;

/** Refuses what is no zone of the IANA database. */
export function wallClock(zone: string): WallClock {
  const found = known.get(zone);
  if (found !== undefined) return found;
  const made = makeClock(zone);
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(zone, made);
  return made;
}

function makeClock(zone: string): WallClock {
  const format = formatOf(zone);
  const at = (instant: number): number => {
    const parts: Record<string, number> = {};
    for (const { type, value } of format.formatToParts(instant)) parts[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    const ms = ((instant % 1000) + 1000) % 1000;
    return Date.UTC(year, month - 1, day, hour, minute, second) + ms;
  };
  const offset = (instant: number) => at(instant) - instant;
  return {
    zone: format.resolvedOptions().timeZone,
    at,
    moment(wall) {
      const before = wall - offset(wall - AROUND_MS);
      const after = wall - offset(wall + AROUND_MS);
      const first = Math.min(before, after);
      const last = Math.max(before, after);
      if (at(first) === wall) return first;
      if (at(last) === wall) return last;
      return changeBetween(first, last, offset);
    },
  };
}

/** The first ms with the offset of `last`. */
export function changeBetween(first: number, last: number, offset: (instant: number) => number): number {
  const reached = offset(last);
  let [low, high] = [first, last];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offset(middle) === reached) high = middle;
    else low = middle;
  }
  return high;
}

function formatOf(zone: string): Intl.DateTimeFormat {
  try {
    // An offset such as +02:00 is one of no place: it would never follow a change of clocks.
    if (/^[+-]/.test(zone)) throw new RangeError(zone);
    return new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      calendar: "iso8601",
      numberingSystem: "latn",
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  } catch {
    const allowed = "a zone of the IANA database, such as Europe/Berlin or UTC,";
    throw new AgentConfigError("The schedule", [issueAt("trigger.time_zone", zone, allowed)]);
  }
}
