import type { Answer } from "@trackside/server/client";

export type Schedule = Answer<"listSchedules">["items"][number];
export type ScheduleDetail = Answer<"getSchedule">;
export type SavedSchedule = Answer<"createSchedule">;
export type Firing = Answer<"listFirings">["items"][number];
export type TargetKind = Schedule["target"]["kind"];

/** The trigger as people say it. */
export function whenWords({ trigger, words }: Pick<Schedule, "trigger" | "words">): string {
  return trigger.kind === "webhook" ? "when a webhook comes" : (words ?? trigger.pattern);
}

/** This browser's zone. */
export function ownZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Every zone there is, for a list. */
export function zones(): readonly string[] {
  return ["UTC", ...Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC")];
}

/** "Tue 17 Nov, 07:00": the same for a glance. */
export function shortTimeIn(timeZone: string, at: number): string {
  return new Intl.DateTimeFormat("en-GB", {
    timeZone,
    weekday: "short",
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
  }).format(at);
}

/** "Tue, 17 Nov 2026, 07:00:00 UTC+1": a time as clocks in a zone show it. */
export function timeIn(timeZone: string, at: number): string {
  return new Intl.DateTimeFormat("en-GB", {
    timeZone,
    weekday: "short",
    day: "2-digit",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "shortOffset",
  })
    .format(at)
    .replace("GMT", "UTC");
}
