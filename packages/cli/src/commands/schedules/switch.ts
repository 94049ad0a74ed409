import type { InStore } from "../../config/in-store.ts";
import type { Io } from "../../io.ts";
import { whoAmI } from "../../who.ts";
import { onSchedule } from "./on-schedule.ts";
import { timeIn } from "./time-in.ts";

export const enable = onSchedule({
  verb: "enable",
  about: "switches a schedule on",
  work: (opened, name, io) => switched(opened, name, io, "enable"),
});

export const disable = onSchedule({
  verb: "disable",
  about: "switches a schedule off; what passes meanwhile is not made up for",
  work: (opened, name, io) => switched(opened, name, io, "disable"),
});

async function switched(
  { trackside, scope, json, screen, line }: InStore,
  name: string,
  io: Io,
  to: "enable" | "disable",
): Promise<undefined> {
  const record = await trackside.schedules[to](name, { ...scope, by: whoAmI(io.env) });
  const { trigger, next_at } = record;
  if (json) line(record);
  else if (to === "disable") screen.line(`${record.name} is off.`);
  else if (trigger.kind === "webhook" || next_at === null) screen.line(`${record.name} is on.`);
  else screen.line(`${record.name} is on. It is due next: ${timeIn(trigger.time_zone, next_at)}`);
}
