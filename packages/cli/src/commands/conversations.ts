import { STORE_EXIT_HELP, STORE_OPTIONS_HELP } from "../config/in-store.ts";
import { subcommands } from "../subcommands.ts";
import { remove } from "./conversations/delete.ts";
import { exportLines } from "./conversations/export.ts";
import { importLines } from "./conversations/import.ts";
import { list } from "./conversations/list.ts";
import { show } from "./conversations/show.ts";

const help = `trackside conversations    lists, shows, copies and deletes the conversations of a store

  trackside conversations [list]           lists them, the one that was used last first
  trackside conversations show <id>        what was said
  trackside conversations export <id>      prints it as lines of JSON
  trackside conversations import <file>    makes a new one of such lines; "-" reads stdin
  trackside conversations delete <id>      erases it, with its runs, approvals and artifacts

<id> may be a conversation or one of its branches; the end of it is enough where no other has it.
trackside conversations <command> --help shows the options of each.

Options of all
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside conversations --agent clerk
  trackside conversations export k3x9q2ab > conversation.jsonl
`;

export const command = subcommands("conversations", {
  help,
  commands: { list, show, export: exportLines, import: importLines, delete: remove },
  otherwise: list,
});
