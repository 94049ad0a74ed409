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

interface OnWorkflow {
  /** How it is written, after `trackside workflows`. */
  readonly usage: string;
  /** What it does, for the help. */
  readonly about: string;
  /** As somebody would write it, after `trackside workflows`. */
  readonly example: string;
  /** It prints JSON, whether asked to or not. */
  readonly json?: true;
  readonly work: (opened: InStore, word: string, io: Io) => Promise<number | undefined>;
}

/** A command on one workflow, by its name or its file. */
export function onWorkflow({ usage, about, example, json, work }: OnWorkflow): Command {
  const help = `trackside workflows ${usage}    ${about}

Options
${json ? "" : "  --json                  prints JSON\n"}${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside workflows ${example}
`;
  return {
    help,
    async run(args, io) {
      const { values, positionals } = readArguments(args, STORE_OPTIONS);
      if (values.help) return showHelp(io, help);
      noMore(positionals, 1, `trackside workflows ${usage}`);
      const [word] = positionals;
      if (word === undefined)
        throw new Complaint(`Something is missing. Write: trackside workflows ${usage}`);
      const given = json ? { ...values, json } : values;
      return inStore(io, given, async (opened) => (await work(opened, word, io)) ?? EXIT.completed);
    },
  };
}
