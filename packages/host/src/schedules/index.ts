export type { MirroredSchedule, ScheduledElsewhere, ScheduleMirror } from "./mirror.ts";
export type {
  Firing,
  Missed,
  Overlap,
  ScheduleFields,
  ScheduleInput,
  ScheduleRecord,
  ScheduleTarget,
  ScheduleTrigger,
} from "./schedule.ts";
export { type Delivery, type ListSchedules, type SavedSchedule, Schedules } from "./schedules.ts";
