import type { ConversationRecord } from "@trackside/host";
import { noMore, readArguments, readLimit } from "../../arguments.ts";
import { type Command, EXIT, showHelp } from "../../command.ts";
import { inStore, STORE_EXIT_HELP, STORE_OPTIONS, STORE_OPTIONS_HELP } from "../../config/in-store.ts";
import type { Screen } from "../../screen/screen.ts";
import { showTable } from "../../screen/table.ts";
import { when } from "../../screen/times.ts";
import { shortId } from "../../short-id.ts";

const help = `trackside conversations [list]    lists conversations, the one that was used last first

Options
  --agent name            only of this agent
  --limit n               at most so many; 20 unless given
  --json                  prints each record as one line of JSON
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside conversations
  trackside conversations --agent clerk --json
`;

export const list: Command = {
  help,
  async run(args, io) {
    const { values, positionals } = readArguments(args, {
      ...STORE_OPTIONS,
      agent: { type: "string" },
      limit: { type: "string" },
    });
    if (values.help) return showHelp(io, help);
    noMore(positionals, 0, "trackside conversations list");
    const limit = readLimit(values.limit, 20);
    return inStore(io, values, async ({ trackside, scope, json, screen, line }) => {
      const { agent } = values;
      const found = await trackside.conversations.list({
        ...scope,
        limit,
        ...(agent === undefined ? {} : { agent }),
      });
      if (json) for (const record of found) line(record);
      else showConversations(screen, found);
      return EXIT.completed;
    });
  },
};

function showConversations(screen: Screen, found: readonly ConversationRecord[]): void {
  if (found.length === 0) {
    screen.line("There are no such conversations.");
    return;
  }
  const id = screen.isTerminal ? shortId : (whole: string) => whole;
  showTable(
    screen,
    ["CONVERSATION", "AGENT", "MESSAGES", "BRANCHES", "USED", "NOW", "TITLE"],
    found.map((one) => [
      { text: id(one.id), style: "bold" },
      one.agent ?? "",
      String(Math.max(0, ...one.branches.map(({ length }) => length))),
      String(one.branches.length),
      when(screen, one.updated_at),
      one.branches.some(({ active_run_id }) => active_run_id !== null)
        ? { text: "running", style: "cyan" }
        : "",
      one.title ?? "",
    ]),
  );
}
