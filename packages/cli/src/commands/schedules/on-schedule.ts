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
import type { Io } from "../../io.ts";

interface OnSchedule {
  readonly verb: string;
  /** What it does, for the help. */
  readonly about: string;
  readonly work: (opened: InStore, name: string, io: Io) => Promise<number | undefined>;
}

/** A command on one schedule, by its name or id. */
export function onSchedule({ verb, about, work }: OnSchedule): Command {
  const usage = `trackside schedules ${verb} <name>`;
  const help = `${usage}    ${about}

Options
  --json                  prints JSON
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside schedules ${verb} morning
`;
  return {
    help,
    async run(args, io) {
      const { values, positionals } = readArguments(args, STORE_OPTIONS);
      if (values.help) return showHelp(io, help);
      noMore(positionals, 1, usage);
      const [name] = positionals;
      if (name === undefined) throw new Complaint(`Something is missing. Write: ${usage}`);
      return inStore(io, values, async (opened) => (await work(opened, name, io)) ?? EXIT.completed);
    },
  };
}
