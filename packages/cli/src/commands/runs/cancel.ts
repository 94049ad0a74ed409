import type { RunRecord } from "@trackside/host";
import { noMore, readArguments } from "../../arguments.ts";
import { type Command, EXIT, showHelp } from "../../command.ts";
import { inStore, STORE_EXIT_HELP, STORE_OPTIONS, STORE_OPTIONS_HELP } from "../../config/in-store.ts";
import { cleanLine } from "../../screen/clean.ts";
import { statusCell, why } from "../../screen/run-status.ts";
import type { Screen } from "../../screen/screen.ts";
import { findId, shortId } from "../../short-id.ts";
import { whoAmI } from "../../who.ts";

const help = `trackside runs cancel <id>    stops a run, wherever it is

  <id>      the id of a run, or an end of it that no other has

Calls that are open get their results first, then the run ends. With no process at work on it, it ends as soon as a
worker is up; a parked one ends at once.

Options
  --reason text           why; it is kept with the run
  --json                  prints the record as one line of JSON
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside runs cancel k3x9q2ab --reason "wrong customer"
`;

/** How long a process that may have the run is waited for. A machine that is busy takes seconds. */
const STOPS_WITHIN_MS = 10_000;
const LOOK_MS = 50;

export const cancel: Command = {
  help,
  async run(args, io) {
    const { values, positionals } = readArguments(args, { ...STORE_OPTIONS, reason: { type: "string" } });
    if (values.help) return showHelp(io, help);
    noMore(positionals, 1, "trackside runs cancel <id>");
    return inStore(io, values, async ({ trackside, scope, json, screen, line }) => {
      const id = await findId(trackside, "runs", positionals[0], scope.tenant);
      const before = await trackside.runs.get(id, scope);
      const reason = values.reason ?? `cancelled by ${whoAmI(io.env)}`;
      let run = await trackside.runs.cancel(id, { ...scope, reason });
      const until = Date.now() + STOPS_WITHIN_MS;
      while (run.ended_at === null && run.status !== "queued" && Date.now() < until) {
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
        run = await trackside.runs.get(id, scope);
      }
      if (json) line(run);
      else if (before.ended_at !== null) tell(screen, run, "was over already");
      else if (run.ended_at !== null) tell(screen, run, "is over");
      else if (run.status === "queued")
        tell(screen, run, "is to stop; no process works on it now, so it ends once a worker is up");
      else tell(screen, run, "is to stop; it ends once its process, or the next worker, gets to it");
      return EXIT.completed;
    });
  },
};

function tell(screen: Screen, run: RunRecord, what: string): void {
  const { text, style } = statusCell(run);
  const reason = cleanLine(why(run));
  screen.line(
    `${shortId(run.id)} ${what} · ${screen.paint(style, text)}${reason === "" ? "" : ` · ${reason}`}`,
  );
}
