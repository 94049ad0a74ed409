import type { ScheduleTrigger } from "@trackside/host";
import { noMore, readArguments } from "../../arguments.ts";
import { type Command, EXIT, showHelp } from "../../command.ts";
import { Complaint } from "../../complaint.ts";
import {
  type InStore,
  inStore,
  STORE_EXIT_HELP,
  STORE_OPTIONS,
  STORE_OPTIONS_HELP,
} from "../../config/in-store.ts";
import { timeIn } from "./time-in.ts";

const help = `trackside schedules next <name>                         the next five times of a schedule
trackside schedules next "<pattern>" --zone <zone>      the same of a cron pattern

A pattern has five fields (minute hour day month weekday), or six with seconds first.

Options
  --zone zone             the time zone of the pattern, such as Europe/Berlin
  --json                  prints {"next_times", "words", "time_zone"}
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside schedules next morning
  trackside schedules next "30 2 L * *" --zone America/New_York
`;

export const next: Command = {
  help,
  async run(args, io) {
    const { values, positionals } = readArguments(args, { ...STORE_OPTIONS, zone: { type: "string" } });
    if (values.help) return showHelp(io, help);
    const [what] = positionals;
    noMore(positionals, 1, 'trackside schedules next "<pattern>" --zone <zone>');
    if (what === undefined)
      throw new Complaint("Something is missing. Write: trackside schedules next <name>");
    return inStore(io, values, async (opened) => {
      const { trackside, json, screen, line } = opened;
      const trigger = await triggerOf(opened, what, values.zone);
      const { times, words } = trackside.schedules.preview(trigger);
      const zone = trigger.kind === "cron" ? trigger.time_zone : null;
      if (json) line({ next_times: times, words, time_zone: zone });
      else if (zone === null) screen.line(`${what} waits for a webhook: it has no times.`);
      else {
        if (words !== null) screen.line(screen.paint("dim", `${words}, ${zone}`));
        for (const at of times) screen.line(timeIn(zone, at));
      }
      return EXIT.completed;
    });
  },
};

/** With a zone it is a pattern. */
async function triggerOf(
  { trackside, scope }: InStore,
  what: string,
  zone: string | undefined,
): Promise<ScheduleTrigger> {
  if (zone !== undefined) return { kind: "cron", pattern: what, time_zone: zone };
  if (/^\S+(\s+\S+){4,5}$/.test(what.trim()))
    throw new Complaint(`A pattern needs the zone it is for: trackside schedules next "${what}" --zone UTC`);
  return (await trackside.schedules.get(what, scope)).trigger;
}
