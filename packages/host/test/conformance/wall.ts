import type { Clock } from "trackside";

/** A clock that shows the time a check sets. Its timers are real. */
export function wall(start = Date.parse("2026-06-15T07:45:00Z")): Clock & { time: number } {
  const clock = {
    time: start,
    now: () => clock.time,
    random: () => 0.5,
    after(ms: number, run: () => void) {
      const timer = setTimeout(run, ms);
      timer.unref();
      return { stop: () => clearTimeout(timer), hold: () => {} };
    },
  };
  return clock;
}
