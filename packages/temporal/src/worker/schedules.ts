import { type ScheduleClient, ScheduleNotFoundError } from "@temporalio/client";
import type { Trackside } from "@trackside/host";
import { type ScheduleActivities, temporalScheduleId } from "../common/wire.ts";

/** What schedules on the server ask of a worker. */
export function scheduleActivities(
  schedules: Trackside["schedules"],
  clocks: ScheduleClient,
  taskQueue: string,
): ScheduleActivities {
  return {
    async fireSchedule(id) {
      const fired = await schedules.fireDue(id);
      if (fired === "left") throw new Error(`something of the schedule ${id} could not be started yet`);
      if (fired === "gone") await forget(clocks, temporalScheduleId(taskQueue, id));
    },
  };
}

/** Deleted while the server was away. */
async function forget(clocks: ScheduleClient, id: string): Promise<void> {
  try {
    await clocks.getHandle(id).delete();
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
  }
}
