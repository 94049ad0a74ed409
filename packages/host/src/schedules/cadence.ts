import { Cron } from "croner";
import { AgentConfigError } from "trackside";
import { issueAt } from "../agents/issues.ts";
import { type WallClock, wallClock } from "./wall-clock.ts";

/** A cron pattern of five fields, or of six with seconds first, and the zone whose clocks it is about. */
export interface CronTrigger {
  readonly pattern: string;
  readonly time_zone: string;
}

/** When something is to happen, again and again. */
export interface Cadence {
  /** The first moment after this one; undefined when there is none. */
  next(after: number): number | undefined;
}

const MODE = "5-or-6-parts";
const DAY_MS = 86_400_000;
const FIELDS = /^\S+(?:\s+\S+){4,5}$/;
const LONGEST = 200;

const known = new Map<string, Cadence>();
const MOST_KNOWN = 2000;

/**
 * Reads a trigger, or says what is wrong with it. The rule for days on which clocks change: a pattern for every hour goes
 * by the time that passes, and so fires every hour. Any other names times on the wall, each of which counts once: where a
 * time comes twice it fires the first time, where it does not come at all it fires the moment the clocks are set forward.
 */
export function cadence({ pattern, time_zone }: CronTrigger): Cadence {
  const key = `${time_zone} ${pattern}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const clock = wallClock(time_zone);
  const fields = fieldsOf(pattern);
  const cron = parsed(pattern, fields.join(" "));
  const made = isEveryHour(fields.at(-4) ?? "*") ? byElapsedTime(fields, clock) : onTheWall(cron, clock);
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(key, made);
  return made;
}

/** The next times, soonest first: fewer when there are no more. */
export function nextTimes(trigger: CronTrigger, after: number, count: number): readonly number[] {
  const when = cadence(trigger);
  const times: number[] = [];
  for (let at = when.next(after); at !== undefined && times.length < count; at = when.next(at))
    times.push(at);
  return times;
}

function fieldsOf(pattern: string): readonly string[] {
  const trimmed = pattern.trim();
  if (trimmed.length <= LONGEST && FIELDS.test(trimmed)) return trimmed.split(/\s+/);
  throw invalid(pattern, "five fields (minute hour day month weekday), or six with seconds first,");
}

function parsed(given: string, fields: string): Cron {
  let cron: Cron;
  try {
    cron = new Cron(fields, { timezone: "UTC", mode: MODE, paused: true });
  } catch (cause) {
    const said = cause instanceof Error ? cause.message.replace(/^\w*Pattern:?\s*/, "") : String(cause);
    throw invalid(given, `a cron pattern (${said.replace(/\.$/, "")})`);
  }
  if (cron.nextRun(new Date(0)) === null)
    throw invalid(given, "a day that comes in some year (this one never fires)");
  return cron;
}

function isEveryHour(field: string): boolean {
  const hours = new Cron(`0 0 ${field} * * *`, { timezone: "UTC", mode: MODE, paused: true });
  return hours.nextRuns(24, new Date(-1)).at(-1)?.getTime() === DAY_MS - 3_600_000;
}

/** Where clocks change by whole hours, minutes are where they were. */
function byElapsedTime(fields: readonly string[], { zone }: WallClock): Cadence {
  const cron = new Cron(fields.join(" "), { timezone: zone, mode: MODE, paused: true });
  return { next: (after) => cron.nextRun(new Date(after))?.getTime() };
}

function onTheWall(cron: Cron, clock: WallClock): Cadence {
  return {
    next(after) {
      for (let wall = clock.at(after); ; ) {
        const time = cron.nextRun(new Date(wall))?.getTime();
        if (time === undefined) return undefined;
        const moment = clock.moment(time);
        if (moment > after) return moment;
        wall = time; // it came before, an hour ago
      }
    },
  };
}

function invalid(pattern: string, allowed: string): AgentConfigError {
  return new AgentConfigError("The schedule", [issueAt("trigger.pattern", pattern, allowed)]);
}
