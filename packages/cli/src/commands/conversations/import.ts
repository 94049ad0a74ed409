import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { messageOf } from "../../approvals/approver.ts";
import { noMore, readArguments } from "../../arguments.ts";
import { type Command, EXIT, showHelp } from "../../command.ts";
import { Complaint } from "../../complaint.ts";
import { inStore, STORE_EXIT_HELP, STORE_OPTIONS, STORE_OPTIONS_HELP } from "../../config/in-store.ts";
import { readAll } from "../../io.ts";

const help = `trackside conversations import <file>    makes a new conversation of exported lines

  <file>    what "trackside conversations export" has printed; "-" reads it from stdin

Every line is checked first: all of it is imported, or nothing.

Options
  --json                  prints the record as one line of JSON
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside conversations import conversation.jsonl
`;

export const importLines: Command = {
  help,
  async run(args, io) {
    const { values, positionals } = readArguments(args, STORE_OPTIONS);
    if (values.help) return showHelp(io, help);
    noMore(positionals, 1, "trackside conversations import <file>");
    const [file] = positionals;
    if (file === undefined) throw new Complaint("Which file? Write: trackside conversations import <file>");
    let text: string;
    try {
      text = file === "-" ? await readAll(io.stdin) : readFileSync(resolve(io.cwd, file), "utf8");
    } catch (error) {
      throw new Complaint(`${file} cannot be read: ${messageOf(error)}`);
    }
    return inStore(io, values, async ({ trackside, scope, json, screen, line }) => {
      const made = await trackside.conversations.import(text, scope);
      if (json) line(made);
      else screen.line(made.id);
      return EXIT.completed;
    });
  },
};
