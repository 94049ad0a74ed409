import { proxyActivities } from "@temporalio/workflow";
import type { ScheduleActivities } from "../common/wire.ts";

/** Where the store is away it is tried again, for as long as it takes: what is due stays due. */
const { fireSchedule } = proxyActivities<ScheduleActivities>({
  startToCloseTimeout: "1 min",
  retry: { initialInterval: "1 s", backoffCoefficient: 2, maximumInterval: "1 min" },
});

/** Started by a schedule of Temporal: it is time to look at one of ours. */
export async function tracksideSchedule(id: string): Promise<void> {
  await fireSchedule(id);
}
