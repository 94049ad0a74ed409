import { noMore, readArguments } from "../../arguments.ts";
import { type Command, EXIT, showHelp } from "../../command.ts";
import { inStore, STORE_EXIT_HELP, STORE_OPTIONS, STORE_OPTIONS_HELP } from "../../config/in-store.ts";
import { findId } from "../../short-id.ts";

const help = `trackside conversations export <id>    prints a conversation as lines of JSON

  <id>      the id of a conversation or a branch, or an end of it that no other has

The first line is the conversation, each other one a message. What providers signed is left out.

Options
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside conversations export k3x9q2ab > conversation.jsonl
`;

export const exportLines: Command = {
  help,
  async run(args, io) {
    const { values, positionals } = readArguments(args, STORE_OPTIONS);
    if (values.help) return showHelp(io, help);
    noMore(positionals, 1, "trackside conversations export <id>");
    return inStore(io, { ...values, json: true }, async ({ trackside, scope, line }) => {
      const id = await findId(trackside, "branches", positionals[0], scope.tenant);
      const lines = (await trackside.conversations.export(id, scope)).trimEnd().split("\n");
      for (const one of lines) line(JSON.parse(one));
      return EXIT.completed;
    });
  },
};
