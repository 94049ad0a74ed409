import { noMore, readArguments, readNumber } from "../../arguments.ts";
import { type Command, EXIT, showHelp } from "../../command.ts";
import { inStore, STORE_EXIT_HELP, STORE_OPTIONS, STORE_OPTIONS_HELP } from "../../config/in-store.ts";
import { findId, shortId } from "../../short-id.ts";

const help = `trackside runs retry <id>    runs it again from one of its steps or nodes, as a new run on a new branch

  <id>      the id of a run, or an end of it that no other has

What came before that is kept and does not run again. The definition is the one the run had.

Options
  --from-step n           the step to begin with; the last one unless given
  --node id               of a workflow: the node to begin with; what completed is not run again
  --json                  prints the record as one line of JSON
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside runs retry k3x9q2ab
  trackside runs retry k3x9q2ab --from-step 2
  trackside runs retry k3x9q2ab --node deploy
`;

export const retry: Command = {
  help,
  async run(args, io) {
    const { values, positionals } = readArguments(args, {
      ...STORE_OPTIONS,
      "from-step": { type: "string" },
      node: { type: "string" },
    });
    if (values.help) return showHelp(io, help);
    noMore(positionals, 1, "trackside runs retry <id>");
    const fromStep = readNumber("--from-step", values["from-step"], { from: 1, to: Number.MAX_SAFE_INTEGER });
    return inStore(io, values, async ({ trackside, scope, json, screen, line }) => {
      const id = await findId(trackside, "runs", positionals[0], scope.tenant);
      const run = await trackside.runs.retry(id, {
        ...scope,
        ...(fromStep === undefined ? {} : { fromStep }),
        ...(values.node === undefined ? {} : { node: values.node }),
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
