import type { Elsewhere } from "../journal/durable-engine.ts";
import type { ScheduleRecord } from "./schedule.ts";

/** A schedule by the clock, as another engine is told of it. */
export type MirroredSchedule = Pick<ScheduleRecord, "id" | "tenant" | "name" | "version" | "enabled"> & {
  readonly pattern: string;
  readonly time_zone: string;
};

/** Where another engine watches the clock. It only says when: what is due, and whether it has run, is in the store. */
export interface ScheduleMirror {
  /** Makes or changes it. Twice is once. */
  put(schedule: MirroredSchedule): Promise<void>;
  remove(id: string): Promise<void>;
  /** The versions it has, by id. */
  versions(): Promise<ReadonlyMap<string, number>>;
}

/** An engine that may have a clock of its own. */
export type ScheduledElsewhere = Elsewhere & { readonly schedules?: ScheduleMirror };
