import type { AgentRecord } from "@trackside/host";
import { noMore, readArguments, readLimit } from "../../arguments.ts";
import { type Command, EXIT, showHelp } from "../../command.ts";
import { inStore, STORE_EXIT_HELP, STORE_OPTIONS, STORE_OPTIONS_HELP } from "../../config/in-store.ts";
import type { Screen } from "../../screen/screen.ts";
import { showTable } from "../../screen/table.ts";
import { when } from "../../screen/times.ts";

const help = `trackside agents [list]    lists agents, by name

Options
  --search text           only those with it in their name
  --limit n               at most so many; 100 unless given
  --json                  prints each record as one line of JSON
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside agents
  trackside agents --search clerk --json
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
    noMore(positionals, 0, "trackside agents list");
    const limit = readLimit(values.limit, 100);
    const search = values.search === undefined ? {} : { search: values.search };
    return inStore(io, values, async ({ trackside, scope, json, screen, line }) => {
      const found = await trackside.agents.list({ ...scope, ...search, limit });
      if (json) for (const record of found) line(record);
      else showAgents(screen, found);
      return EXIT.completed;
    });
  },
};

function showAgents(screen: Screen, found: readonly AgentRecord[]): void {
  if (found.length === 0) {
    screen.line("There are no such agents.");
    return;
  }
  showTable(
    screen,
    ["AGENT", "VERSION", "MODEL", "NEEDS APPROVAL", "FROM", "CHANGED"],
    found.map(({ name, version, definition, source, updated_at }) => [
      { text: name, style: "bold" },
      source === "code" ? "" : String(version),
      String(definition["model"]),
      gatedIn(definition["hitl_tools"]),
      source === "code" ? "the config" : "the store",
      source === "code" ? "" : when(screen, updated_at),
    ]),
  );
}

function gatedIn(tools: unknown): string {
  return Array.isArray(tools) ? tools.join(", ") : "";
}
