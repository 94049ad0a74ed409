import {
  type CalendarSpec,
  ScheduleAlreadyRunning,
  type ScheduleClient,
  ScheduleNotFoundError,
  type ScheduleSpec,
} from "@temporalio/client";
import type { MirroredSchedule, ScheduleMirror } from "@trackside/host";
import { SCHEDULE_WORKFLOW, temporalScheduleId } from "../common/wire.ts";

/** Our schedules as Temporal's: Temporal watches the clock, and whatever is due is in the store. */
export function scheduleMirror(clocks: ScheduleClient, taskQueue: string): ScheduleMirror {
  return {
    async put(schedule) {
      const scheduleId = temporalScheduleId(taskQueue, schedule.id);
      const { action, ...options } = optionsOf(schedule, taskQueue);
      try {
        await clocks.create({ scheduleId, action, ...options });
      } catch (error) {
        if (!(error instanceof ScheduleAlreadyRunning)) throw error;
        await clocks.getHandle(scheduleId).update(() => ({ action, ...options }));
      }
    },
    async remove(id) {
      try {
        await clocks.getHandle(temporalScheduleId(taskQueue, id)).delete();
      } catch (error) {
        if (!(error instanceof ScheduleNotFoundError)) throw error;
      }
    },
  };
}

function optionsOf(schedule: MirroredSchedule, taskQueue: string) {
  const { id, tenant, name, enabled } = schedule;
  return {
    spec: specOf(schedule),
    action: {
      type: "startWorkflow" as const,
      workflowType: SCHEDULE_WORKFLOW,
      workflowId: `trackside.${id}`,
      taskQueue,
      args: [id] as [string],
    },
    // One look finds everything that was due meanwhile; what is done about it is the schedule's own affair.
    policies: { overlap: "BUFFER_ONE" as const, catchupWindow: "1 day" as const },
    state: { paused: !enabled, note: `${name} (${tenant})` },
  };
}

/**
 * At least the times of a schedule. Temporal passes over what clocks skip and repeats what they repeat, and knows no last
 * day of a month: it may look too often, since what is due is decided by the store, and never too seldom.
 */
export function specOf({ pattern, time_zone, moved }: MirroredSchedule): ScheduleSpec {
  return {
    cronExpressions: cronOf(pattern),
    calendars: moved.map((at) => calendarOf(at, time_zone)),
    timezone: time_zone,
  };
}

function cronOf(pattern: string): string[] {
  const fields = pattern.trim().toUpperCase().split(/\s+/);
  const [second = "0", minute = "*", hour = "*", day = "*", month = "*", weekday = "*"] =
    fields.length === 5 ? ["0", ...fields] : fields;
  const written = (d: string, w: string) =>
    [second, minute, hour, d, month, w, "*"].join(" ").replaceAll("?", "*");
  if (/[LW#+]/.test(day) || /[L#+]/.test(weekday.replace(/[A-Z]{3}/g, ""))) return [written("*", "*")];
  // Either of them, as cron has it.
  if (day !== "*" && weekday !== "*") return [written(day, "*"), written("*", weekday)];
  return [written(day, weekday)];
}

const MONTHS = [
  "JANUARY",
  "FEBRUARY",
  "MARCH",
  "APRIL",
  "MAY",
  "JUNE",
  "JULY",
  "AUGUST",
  "SEPTEMBER",
  "OCTOBER",
  "NOVEMBER",
  "DECEMBER",
] as const;

function calendarOf(at: number, timeZone: string): CalendarSpec {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return {
    year,
    month: MONTHS[month - 1] ?? "JANUARY",
    dayOfMonth: day,
    hour,
    minute,
    second,
    comment: "clocks are set forward",
  };
}
