import { duration } from "./numbers.ts";
import type { Screen } from "./screen.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** When something was: for a person how long ago, in a file the time itself. */
export function when(screen: Screen, at: number, now = Date.now()): string {
  return screen.isTerminal ? ago(at, now) : new Date(at).toISOString();
}

/** `12 s ago`, `3 min ago`, `2 days ago`. */
export function ago(at: number, now = Date.now()): string {
  const ms = now - at;
  return ms < 1000 ? "just now" : `${span(ms)} ago`;
}

/** How long something lasted, exactly where it was short. */
export function waited(ms: number): string {
  return ms < HOUR_MS ? duration(ms) : span(ms);
}

/** `12 s`, `3 min`, `5 h`, `2 days`. */
function span(ms: number): string {
  if (ms < MINUTE_MS) return `${Math.floor(ms / 1000)} s`;
  if (ms < 2 * HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`;
  return ms < 2 * DAY_MS ? `${Math.floor(ms / HOUR_MS)} h` : `${Math.floor(ms / DAY_MS)} days`;
}

/** A time on the clock, with its day. */
export function clockTime(at: number): string {
  return new Date(at).toLocaleString("en-GB", {
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "short",
  });
}
