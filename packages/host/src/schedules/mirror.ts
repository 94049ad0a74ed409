import type { Elsewhere } from "../journal/durable-engine.ts";
import type { ScheduleRecord } from "./schedule.ts";

/** A schedule by the clock, as another engine is told of it. */
export interface MirroredSchedule extends Pick<ScheduleRecord, "id" | "tenant" | "name" | "enabled"> {
  readonly pattern: string;
  /** As the database of zones writes it. */
  readonly time_zone: string;
  /** Times at which it is due though the pattern does not say so: clocks are set forward over what it says. */
  readonly moved: readonly number[];
}

/**
 * Where another engine watches the clock. It only says when to look: what is due, and whether it has run, is in the store.
 * So it may say so too often.
 */
export interface ScheduleMirror {
  /** Makes or changes it. Twice is once. */
  put(schedule: MirroredSchedule): Promise<void>;
  /** Nothing where there is none. */
  remove(id: string): Promise<void>;
}

/** An engine that may have a clock of its own. */
export type ScheduledElsewhere = Elsewhere & { readonly schedules?: ScheduleMirror };
