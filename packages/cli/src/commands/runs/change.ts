import type { RunRecord } from "@trackside/host";
import { noMore, readArguments, readNumber } from "../../arguments.ts";
import { type Command, EXIT, showHelp } from "../../command.ts";
import { inStore, STORE_EXIT_HELP, STORE_OPTIONS, STORE_OPTIONS_HELP } from "../../config/in-store.ts";
import { cleanLine, jsonPage } from "../../screen/clean.ts";
import { statusCell, why } from "../../screen/run-status.ts";
import type { Screen } from "../../screen/screen.ts";
import { findId, shortId } from "../../short-id.ts";
import { whoAmI } from "../../who.ts";

const ID = `  <id>      the id of a run, or an end of it that no other has`;
const JSON_OPTION = `  --json                  prints the record as one line of JSON`;

/** How long a process that has the run may take to stop it, before it is said that none does. */
const STOPS_WITHIN_MS = 3000;
const LOOK_MS = 50;

const cancelHelp = `trackside runs cancel <id>    stops a run, wherever it is

${ID}

Calls that are open get their results first, then the run ends. With no process at work on it, it ends as soon as a
worker is up; a parked one ends at once.

Options
  --reason text           why; it is kept with the run
${JSON_OPTION}
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside runs cancel k3x9q2ab --reason "wrong customer"
`;

export const cancel: Command = {
  help: cancelHelp,
  async run(args, io) {
    const { values, positionals } = readArguments(args, { ...STORE_OPTIONS, reason: { type: "string" } });
    if (values.help) return showHelp(io, cancelHelp);
    noMore(positionals, 1, "trackside runs cancel <id>");
    return inStore(io, values, async ({ trackside, scope, json, screen, line }) => {
      const id = await findId(trackside, "runs", positionals[0], scope.tenant);
      const before = await trackside.runs.get(id, scope);
      const reason = values.reason ?? `cancelled by ${whoAmI(io.env)}`;
      let run = await trackside.runs.cancel(id, { ...scope, reason });
      const until = Date.now() + STOPS_WITHIN_MS;
      while (run.ended_at === null && Date.now() < until) {
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
        run = await trackside.runs.get(id, scope);
      }
      if (json) line(run);
      else if (before.ended_at !== null) tell(screen, run, "was over already");
      else if (run.ended_at !== null) tell(screen, run, "is over");
      else tell(screen, run, "is to stop; no process works on it now, so it ends once a worker is up");
      return EXIT.completed;
    });
  },
};

const resumeHelp = `trackside runs resume <id>    lets a parked run go on

${ID}

A run is parked when it cannot go on by itself: its agent has changed, or it died three times in the same place. Put
right what "trackside runs show" says, then resume it; a worker takes it up.

Options
${JSON_OPTION}
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside runs --status parked
  trackside runs resume k3x9q2ab
`;

export const resume: Command = {
  help: resumeHelp,
  async run(args, io) {
    const { values, positionals } = readArguments(args, STORE_OPTIONS);
    if (values.help) return showHelp(io, resumeHelp);
    noMore(positionals, 1, "trackside runs resume <id>");
    return inStore(io, values, async ({ trackside, scope, json, screen, line }) => {
      const id = await findId(trackside, "runs", positionals[0], scope.tenant);
      const run = await trackside.runs.resume(id, scope);
      if (json) line(run);
      else screen.line(`${shortId(id)} goes on in the next worker that is free.`);
      return EXIT.completed;
    });
  },
};

const retryHelp = `trackside runs retry <id>    runs it again from one of its steps, as a new run on a new branch

${ID}

What came before that step is kept and does not run again. The definition is the one the run had.

Options
  --from-step n           the step to begin with; the last one unless given
${JSON_OPTION}
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside runs retry k3x9q2ab
  trackside runs retry k3x9q2ab --from-step 2
`;

export const retry: Command = {
  help: retryHelp,
  async run(args, io) {
    const { values, positionals } = readArguments(args, {
      ...STORE_OPTIONS,
      "from-step": { type: "string" },
    });
    if (values.help) return showHelp(io, retryHelp);
    noMore(positionals, 1, "trackside runs retry <id>");
    const fromStep = readNumber("--from-step", values["from-step"], { from: 1, to: Number.MAX_SAFE_INTEGER });
    return inStore(io, values, async ({ trackside, scope, json, screen, line }) => {
      const id = await findId(trackside, "runs", positionals[0], scope.tenant);
      const run = await trackside.runs.retry(id, {
        ...scope,
        ...(fromStep === undefined ? {} : { fromStep }),
      });
      if (json) line(run);
      else {
        screen.line(run.id);
        screen.line(
          screen.paint(
            "dim",
            `It begins in the next worker that is free: trackside runs tail ${shortId(run.id)}`,
          ),
        );
      }
      return EXIT.completed;
    });
  },
};

const exportHelp = `trackside runs export <id>    prints everything there is of a run, as JSON

${ID}

The record, the pinned definition, every event and every approval.

Options
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside runs export k3x9q2ab > run.json
`;

export const exportRun: Command = {
  help: exportHelp,
  async run(args, io) {
    const { values, positionals } = readArguments(args, STORE_OPTIONS);
    if (values.help) return showHelp(io, exportHelp);
    noMore(positionals, 1, "trackside runs export <id>");
    return inStore(io, { ...values, json: true }, async ({ trackside, scope, write }) => {
      const id = await findId(trackside, "runs", positionals[0], scope.tenant);
      write(`${jsonPage(await trackside.runs.export(id, scope))}\n`);
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
