import { TracksideError } from "trackside";
import type { SchedulesTable } from "../store/tables.ts";
import { scheduleBody } from "./schedule-rows.ts";

export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function unknown(name: string): TracksideError {
  return new TracksideError("not_found", `There is no schedule "${name}".`);
}

export function taken(name: string): TracksideError {
  return new TracksideError("name_taken", `There is a schedule "${name}" already. Choose another name.`);
}

export function noWebhook(name: string): TracksideError {
  return new TracksideError("read_only", `The schedule "${name}" waits for no webhook, so it has no secret.`);
}

export function switchedOff(name: string): TracksideError {
  return new TracksideError("schedule_off", `The schedule "${name}" is switched off. Enable it first.`);
}

/** One answer for everything: whoever has no secret is not told what there is. */
export function notSigned(): TracksideError {
  return new TracksideError(
    "not_signed",
    "The webhook is not signed as it has to be: trackside-signature with the secret of the schedule, not older than five minutes.",
  );
}

export function conflict(row: SchedulesTable, given: number): ScheduleConflictError {
  const { updated_by: by } = scheduleBody.read(row.body, row.id);
  return new ScheduleConflictError(row.name, given, { version: row.version, by, at: row.updated_at });
}

/** Somebody else saved it meanwhile. */
export class ScheduleConflictError extends TracksideError {
  override readonly name: string = "ScheduleConflictError";
  readonly current: { readonly version: number; readonly by: string; readonly at: number };

  constructor(schedule: string, given: number, current: ScheduleConflictError["current"]) {
    super(
      "version_conflict",
      `The schedule "${schedule}" is at version ${current.version}, saved by ${current.by}; ${given} was given. Load it again and repeat your change.`,
    );
    this.current = current;
  }
}
