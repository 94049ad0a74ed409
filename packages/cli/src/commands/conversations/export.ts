import { STORE_EXIT_HELP, STORE_OPTIONS_HELP } from "../../config/in-store.ts";
import { onOne } from "../../config/on-one.ts";

const help = `trackside conversations export <id>    prints a conversation as lines of JSON

  <id>      the id of a conversation or a branch, or an end of it that no other has

The first line is the conversation, each other one a message. What providers signed is left out.

Options
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside conversations export k3x9q2ab > conversation.jsonl
`;

export const exportLines = onOne({
  help,
  usage: "trackside conversations export <id>",
  table: "branches",
  json: true,
  async work({ trackside, scope, line }, id) {
    const lines = (await trackside.conversations.export(id, scope)).trimEnd().split("\n");
    for (const one of lines) line(JSON.parse(one));
  },
});
