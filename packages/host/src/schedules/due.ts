import type { Cadence } from "./cadence.ts";
import type { Missed } from "./schedule.ts";

/** Whoever is that late has missed nothing. */
export const GRACE_MS = 60_000;
/** So many runs are made up for at once, the latest ones. */
export const MOST_MADE_UP = 100;
const MOST_COUNTED = 1000;
const MOST_WALKED = 500;
const FIRST_WINDOW_MS = 60_000;

/** Times that passed and are not run. */
export interface Passed {
  readonly from: number;
  readonly to: number;
  readonly count: number;
  /** There were more than are counted. */
  readonly isMore: boolean;
}

export interface Due {
  /** Times to run now, the earliest first. */
  readonly fire: readonly number[];
  readonly passed: Passed | undefined;
  /** When it is due again. */
  readonly next: number | undefined;
}

/**
 * What is to be done about the times from `from` until now; `from` is one of them. Missed is a time that is later than the
 * grace, or that the next one has caught up with.
 */
export function dueUntil(when: Cadence, from: number, now: number, missed: Missed): Due {
  const found = lastTimes(when, from, now + 1, missed === "all" ? MOST_MADE_UP : 1);
  const isLate = (found.at(-1) ?? from) < now - GRACE_MS;
  const fire = missed === "skip" && isLate ? [] : found;
  return { fire, passed: passedOver(when, from, fire[0] ?? now + 1), next: when.next(now) };
}

function passedOver(when: Cadence, from: number, end: number): Passed | undefined {
  if (from >= end) return undefined;
  const found = times(when, from, end, MOST_COUNTED + 1);
  const [to = from] = lastTimes(when, from, end, 1);
  return { from, to, count: Math.min(found.length, MOST_COUNTED), isMore: found.length > MOST_COUNTED };
}

/** From `from` on and before `end`. */
function times(when: Cadence, from: number, end: number, most: number): readonly number[] {
  const found: number[] = [];
  for (let at = when.next(from - 1); at !== undefined && at < end && found.length < most; at = when.next(at))
    found.push(at);
  return found;
}

/** The last ones of them. Looked for from the end: years of seconds are not walked through. */
function lastTimes(when: Cadence, from: number, end: number, count: number): readonly number[] {
  let early = from; // enough of them, or all, are after it
  let late = end; // too few are
  for (let start = Math.max(from, end - FIRST_WINDOW_MS); ; ) {
    const found = times(when, start, end, MOST_WALKED);
    if (found.length === MOST_WALKED) early = found.at(-count) ?? start;
    else if (found.length >= count || start <= early) return found.slice(-count);
    else late = start;
    start = late - early <= 1 ? early : Math.max(early, Math.floor((early + late) / 2));
  }
}
