import type { WorkflowRow } from "@trackside/host";
import { noMore, readArguments, readLimit } from "../../arguments.ts";
import { type Command, EXIT, showHelp } from "../../command.ts";
import { inStore, STORE_EXIT_HELP, STORE_OPTIONS, STORE_OPTIONS_HELP } from "../../config/in-store.ts";
import type { Screen } from "../../screen/screen.ts";
import { showTable } from "../../screen/table.ts";
import { when } from "../../screen/times.ts";

const help = `trackside workflows [list]    lists workflows, by name

Options
  --search text           only those with it in their name
  --limit n               at most so many; 100 unless given
  --json                  prints each record as one line of JSON
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside workflows
  trackside workflows --search deploy --json
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
    noMore(positionals, 0, "trackside workflows list");
    const limit = readLimit(values.limit, 100);
    const search = values.search === undefined ? {} : { search: values.search };
    return inStore(io, values, async ({ trackside, scope, json, screen, line }) => {
      const found = await trackside.workflows.list({ ...scope, ...search, limit });
      if (json) for (const record of found) line(record);
      else showWorkflows(screen, found);
      return EXIT.completed;
    });
  },
};

function showWorkflows(screen: Screen, found: readonly WorkflowRow[]): void {
  if (found.length === 0) {
    screen.line("There are no such workflows.");
    return;
  }
  showTable(
    screen,
    ["WORKFLOW", "VERSION", "NODES", "RUNS", "FAILED", "LAST RUN", "WAITING", "FROM", "CHANGED"],
    found.map(({ name, version, definition, source, updated_at, ...row }) => [
      { text: name, style: "bold" },
      source === "code" ? "" : String(version),
      String(Object.keys(definition["nodes"] ?? {}).length),
      row.runs === 0 ? "" : String(row.runs),
      row.failures === 0 ? "" : String(row.failures),
      row.last_run === null ? "" : `${row.last_run.status}, ${when(screen, row.last_run.created_at)}`,
      row.pending_approvals === 0 ? "" : String(row.pending_approvals),
      source === "code" ? "the config" : "the store",
      source === "code" ? "" : when(screen, updated_at),
    ]),
  );
}
