import { type CronTrigger, cadence } from "./cadence.ts";
import { changeBetween, wallClock } from "./wall-clock.ts";

const DAY_MS = 86_400_000;
const LOOKED_AHEAD = 3 * 366;

/**
 * Times at which something is due though its pattern does not say so: clocks are set forward over what it says. For an
 * engine that knows patterns alone; the next three years of them.
 */
export function movedTimes(trigger: CronTrigger, from: number): readonly number[] {
  const clock = wallClock(trigger.time_zone);
  const when = cadence(trigger);
  const offset = (at: number) => clock.at(at) - at;
  const found: number[] = [];
  for (let day = 0; day < LOOKED_AHEAD; day++) {
    const [before, after] = [from + day * DAY_MS, from + (day + 1) * DAY_MS];
    if (offset(after) <= offset(before)) continue;
    const change = changeBetween(before, after, offset);
    if (when.next(change - 1) === change) found.push(change);
  }
  return found;
}
