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

interface OnAgent {
  /** How it is written, after `trackside agents`. */
  readonly usage: string;
  /** What it does, for the help. */
  readonly about: string;
  /** As somebody would write it, after `trackside agents`. */
  readonly example: string;
  /** How many words it takes, the name first. */
  readonly words: number;
  /** It prints JSON, whether asked to or not. */
  readonly json?: true;
  readonly work: (opened: InStore, words: readonly string[], io: Io) => Promise<number | undefined>;
}

/** A command on one agent. */
export function onAgent({ usage, about, example, words, json, work }: OnAgent): Command {
  const help = `trackside agents ${usage}    ${about}

Options
${json ? "" : "  --json                  prints JSON\n"}${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside agents ${example}
`;
  return {
    help,
    async run(args, io) {
      const { values, positionals } = readArguments(args, STORE_OPTIONS);
      if (values.help) return showHelp(io, help);
      noMore(positionals, words, `trackside agents ${usage}`);
      if (positionals.length < words)
        throw new Complaint(`Something is missing. Write: trackside agents ${usage}`);
      const given = json ? { ...values, json } : values;
      return inStore(io, given, async (opened) => (await work(opened, positionals, io)) ?? EXIT.completed);
    },
  };
}

/** A version as it is written on the command line. */
export function readVersion(text: string | undefined): number {
  if (text !== undefined && /^[1-9]\d*$/.test(text)) return Number(text);
  throw new Complaint(`A version is a number from 1 on, not ${JSON.stringify(text ?? "")}.`);
}
