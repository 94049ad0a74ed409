import { noMore, readArguments } from "../../arguments.ts";
import { type Command, EXIT, showHelp } from "../../command.ts";
import { inStore, STORE_OPTIONS, STORE_OPTIONS_HELP } from "../../config/in-store.ts";
import { cleanLine } from "../../screen/clean.ts";
import { counted } from "../../screen/numbers.ts";

const help = `trackside audit verify    checks that no row was edited, deleted, inserted or moved

Options
  --json                  prints the report as one line of JSON
${STORE_OPTIONS_HELP}

Exit codes
  0    the audit is as it was written
  1    it is not; the first bad row is named
  2    wrong usage or configuration

Examples
  trackside audit verify
  trackside audit verify --json | jq .problems
`;

const LISTED = 10;

export const verify: Command = {
  help,
  async run(args, io) {
    const { values, positionals } = readArguments(args, STORE_OPTIONS);
    if (values.help) return showHelp(io, help);
    noMore(positionals, 0, "trackside audit verify");
    return inStore(io, values, async ({ trackside, scope, json, screen, line }) => {
      const report = await trackside.audit.verify(scope);
      const { ok, rows, end, problems } = report;
      if (json) line(report);
      else if (ok) {
        screen.line(`${screen.paint("green", "●")} The audit is intact: ${counted(rows, "row")}.`);
        if (rows > 0) screen.line(screen.paint("dim", `  It ends with row ${end.n}, ${end.hash}`));
      } else {
        const [first] = problems;
        const where = screen.paint("red", `✗ The audit is not intact, from row ${first?.n ?? 0} on.`);
        screen.line(where);
        for (const problem of problems.slice(0, LISTED)) screen.line(`  ${cleanLine(problem.message)}`);
        if (problems.length > LISTED)
          screen.line(`  and ${problems.length - LISTED} more; --json lists them`);
      }
      return ok ? EXIT.completed : EXIT.failed;
    });
  },
};
