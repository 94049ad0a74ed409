import type { RunRecord } from "@trackside/host";
import { noMore, readArguments, readLimit, readWords } from "../../arguments.ts";
import { type Command, EXIT, showHelp } from "../../command.ts";
import { inStore, STORE_EXIT_HELP, STORE_OPTIONS, STORE_OPTIONS_HELP } from "../../config/in-store.ts";
import { count, counted, duration } from "../../screen/numbers.ts";
import { STATUSES, statusCell, why } from "../../screen/run-status.ts";
import type { Screen } from "../../screen/screen.ts";
import { showTable } from "../../screen/table.ts";
import { when } from "../../screen/times.ts";
import { findId, shortId } from "../../short-id.ts";

const help = `trackside runs [list]    lists runs, the newest first

Options
  --status a,b            only these: ${STATUSES.join(", ")}
  --agent name            only of this agent
  --conversation id       only of this conversation
  --parent id             the sub-agents of this run
  --limit n               at most so many; 20 unless given
  --json                  prints each record as one line of JSON
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside runs
  trackside runs --status waiting,parked
  trackside runs --agent clerk --limit 100 --json
`;

export const list: Command = {
  help,
  async run(args, io) {
    const { values, positionals } = readArguments(args, {
      ...STORE_OPTIONS,
      status: { type: "string" },
      agent: { type: "string" },
      conversation: { type: "string" },
      parent: { type: "string" },
      limit: { type: "string" },
    });
    if (values.help) return showHelp(io, help);
    noMore(positionals, 0, "trackside runs list");
    const status = readWords("--status", values.status, STATUSES);
    const limit = readLimit(values.limit, 20);
    return inStore(io, values, async ({ trackside, scope, json, screen, line }) => {
      const { agent } = values;
      const conversation =
        values.conversation === undefined
          ? undefined
          : await findId(trackside, "branches", values.conversation, scope.tenant);
      const parent =
        values.parent === undefined
          ? undefined
          : await findId(trackside, "runs", values.parent, scope.tenant);
      const found = await trackside.runs.list({
        ...scope,
        limit: limit + 1,
        ...(status === undefined ? {} : { status }),
        ...(agent === undefined ? {} : { agent }),
        ...(conversation === undefined ? {} : { conversation }),
        ...(parent === undefined ? {} : { parent }),
      });
      const shown = found.slice(0, limit);
      if (json) for (const record of shown) line(record);
      else showRuns(screen, shown, found.length > limit);
      return EXIT.completed;
    });
  },
};

function showRuns(screen: Screen, runs: readonly RunRecord[], more: boolean): void {
  if (runs.length === 0) {
    screen.line("There are no such runs.");
    return;
  }
  const id = screen.isTerminal ? shortId : (whole: string) => whole;
  showTable(
    screen,
    ["RUN", "STATUS", "AGENT", "STARTED", "TOOK", "STEPS", "TOKENS", "WHY"],
    runs.map((run) => [
      { text: id(run.id), style: "bold" },
      statusCell(run),
      run.agent,
      when(screen, run.created_at),
      run.ended_at === null ? "" : duration(run.ended_at - run.created_at),
      String(run.steps),
      count(run.usage.input_tokens + run.usage.output_tokens),
      why(run),
    ]),
  );
  if (more)
    screen.line(screen.paint("dim", `The newest ${counted(runs.length, "run")}; --limit shows more.`));
}
