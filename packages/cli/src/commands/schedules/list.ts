import type { ScheduleRecord } from "@trackside/host";
import { noMore, readArguments, readLimit } from "../../arguments.ts";
import { type Command, EXIT, showHelp } from "../../command.ts";
import { inStore, STORE_EXIT_HELP, STORE_OPTIONS, STORE_OPTIONS_HELP } from "../../config/in-store.ts";
import type { Screen } from "../../screen/screen.ts";
import { showTable } from "../../screen/table.ts";
import { when } from "../../screen/times.ts";
import { timeIn } from "./time-in.ts";

const help = `trackside schedules [list]    lists schedules, by name

Options
  --search text           only those with it in their name
  --limit n               at most so many; 100 unless given
  --json                  prints each record as one line of JSON
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside schedules
  trackside schedules --json
`;

export const list: Command = {
  help,
  async run(args, io) {
    const { values, positionals } = readArguments(args, {
      ...STORE_OPTIONS,
      search: { type: "string" },
      limit: { type: "string" },
    });
    if (values.help) return showHelp(io, help);
    noMore(positionals, 0, "trackside schedules list");
    const limit = readLimit(values.limit, 100);
    const search = values.search === undefined ? {} : { search: values.search };
    return inStore(io, values, async ({ trackside, scope, json, screen, line }) => {
      const found = await trackside.schedules.list({ ...scope, ...search, limit });
      if (json) for (const record of found) line(record);
      else showSchedules(screen, found);
      return EXIT.completed;
    });
  },
};

function showSchedules(screen: Screen, found: readonly ScheduleRecord[]): void {
  if (found.length === 0) {
    screen.line("There are no such schedules.");
    return;
  }
  showTable(
    screen,
    ["SCHEDULE", "STARTS", "WHEN", "NEXT", "LAST", "HOW IT WENT"],
    found.map((schedule) => {
      const { name, target, last } = schedule;
      return [
        { text: name, style: "bold" },
        `${target.kind} ${target.name}`,
        whenOf(schedule),
        nextOf(schedule),
        last === null ? "" : when(screen, last.fired_at),
        last === null ? "" : (last.reason ?? last.run_status ?? last.state),
      ];
    }),
  );
}

function whenOf({ trigger, words }: ScheduleRecord): string {
  return trigger.kind === "webhook" ? "a webhook comes" : `${words ?? trigger.pattern}, ${trigger.time_zone}`;
}

function nextOf({ enabled, next_at, trigger }: ScheduleRecord): string {
  if (!enabled) return "off";
  return next_at === null || trigger.kind === "webhook" ? "" : timeIn(trigger.time_zone, next_at);
}
