import type { Request } from "@trackside/server/client";
import type { JsonObject } from "trackside/schema";
import type { Schedule, TargetKind } from "./schedule.ts";
import { ownZone } from "./schedule.ts";

/** A schedule as the form has it: every field is there, also those of choices that are not made. */
export interface Draft {
  readonly name: string;
  readonly kind: TargetKind;
  readonly target: string;
  readonly text: string;
  readonly json: string;
  readonly trigger: "cron" | "webhook";
  readonly pattern: string;
  readonly zone: string;
  readonly missed: Schedule["missed"];
  readonly overlap: Schedule["overlap"];
  readonly enabled: boolean;
}

export type Fields = Request<"createSchedule">["body"];

export function newDraft(target?: { readonly kind: TargetKind; readonly name: string }): Draft {
  return {
    name: "",
    kind: target?.kind ?? "agent",
    target: target?.name ?? "",
    text: "",
    json: "{}",
    trigger: "cron",
    pattern: "0 7 * * 1-5",
    zone: ownZone(),
    missed: "once",
    overlap: "allow",
    enabled: true,
  };
}

export function draftOf(schedule: Schedule): Draft {
  const { name, target, trigger, input, missed, overlap, enabled } = schedule;
  return {
    ...newDraft(target),
    name,
    text: typeof input === "string" ? input : "",
    json: typeof input === "object" && input !== null ? JSON.stringify(input, null, 2) : "{}",
    trigger: trigger.kind,
    ...(trigger.kind === "cron" && { pattern: trigger.pattern, zone: trigger.time_zone }),
    missed,
    overlap,
    enabled,
  };
}

/** What is sent; or why the input of a workflow cannot be. */
export function fieldsOf(draft: Draft): { readonly fields: Fields } | { readonly problem: string } {
  const { name, kind, target, trigger, pattern, zone, missed, overlap, enabled } = draft;
  const input = inputOf(draft);
  if (input === undefined) return { problem: "An object as JSON is needed, such as {}." };
  return {
    fields: {
      name: name.trim(),
      target: { kind, name: target },
      input,
      trigger: trigger === "cron" ? { kind: "cron", pattern, time_zone: zone } : { kind: "webhook" },
      missed,
      overlap,
      enabled,
    },
  };
}

function inputOf({ kind, text, json, trigger }: Draft): Fields["input"] {
  if (kind === "plan") return null;
  if (kind === "agent") return text === "" && trigger === "webhook" ? null : text;
  try {
    const value: unknown = JSON.parse(json.trim() || "{}");
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as JsonObject) : undefined; // it was parsed as JSON
  } catch {
    return undefined;
  }
}
