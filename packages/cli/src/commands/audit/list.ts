import type { AuditEntry } from "@trackside/host";
import { noMore, readArguments, readLimit, readNumber } from "../../arguments.ts";
import { type Command, EXIT, showHelp } from "../../command.ts";
import { inStore, STORE_EXIT_HELP, STORE_OPTIONS, STORE_OPTIONS_HELP } from "../../config/in-store.ts";
import type { Screen } from "../../screen/screen.ts";
import { showTable } from "../../screen/table.ts";
import { when } from "../../screen/times.ts";
import { shortId } from "../../short-id.ts";

const help = `trackside audit [list]    lists the rows of the audit, oldest first

Options
  --action name           only this action; with a dot at the end all that begin with it: approval.
  --after n               only rows after this one
  --limit n               at most so many; 100 unless given
  --json                  prints each row as one line of JSON
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside audit --action approval. --limit 20
  trackside audit --after 100 --json
`;

export const list: Command = {
  help,
  async run(args, io) {
    const { values, positionals } = readArguments(args, {
      ...STORE_OPTIONS,
      action: { type: "string" },
      after: { type: "string" },
      limit: { type: "string" },
    });
    if (values.help) return showHelp(io, help);
    noMore(positionals, 0, "trackside audit list");
    const after = readNumber("--after", values.after, { from: 0, to: Number.MAX_SAFE_INTEGER }) ?? 0;
    const limit = readLimit(values.limit, 100);
    return inStore(io, values, async ({ trackside, scope, json, screen, line }) => {
      const { action } = values;
      const rows = await trackside.audit.list({
        ...scope,
        after,
        limit,
        ...(action === undefined ? {} : { action }),
      });
      if (json) for (const row of rows) line(row);
      else showRows(screen, rows, limit);
      return EXIT.completed;
    });
  },
};

function showRows(screen: Screen, rows: readonly AuditEntry[], limit: number): void {
  if (rows.length === 0) {
    screen.line("There are no such rows.");
    return;
  }
  showTable(
    screen,
    ["ROW", "WHEN", "WHAT", "BY", "ABOUT"],
    rows.map(({ n, at, action, by, about }) => [
      String(n),
      when(screen, at),
      { text: action, style: "bold" },
      by,
      Object.entries(about)
        .map(([name, id]) => `${name} ${screen.isTerminal && isId(id) ? shortId(id) : id}`)
        .join(", "),
    ]),
  );
  const last = rows.at(-1);
  if (rows.length === limit) screen.line(screen.paint("dim", `There may be more: --after ${last?.n}`));
}

function isId(value: AuditEntry["about"][string]): value is string {
  return typeof value === "string" && /^(run|conv|branch)_/.test(value);
}
