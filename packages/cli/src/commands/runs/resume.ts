import { noMore, readArguments } from "../../arguments.ts";
import { type Command, EXIT, showHelp } from "../../command.ts";
import { inStore, STORE_EXIT_HELP, STORE_OPTIONS, STORE_OPTIONS_HELP } from "../../config/in-store.ts";
import { findId, shortId } from "../../short-id.ts";

const help = `trackside runs resume <id>    lets a parked run go on

  <id>      the id of a run, or an end of it that no other has

A run is parked when it cannot go on by itself: its agent has changed, or it died three times in the same place. Put
right what "trackside runs show" says, then resume it; a worker takes it up.

Options
  --json                  prints the record as one line of JSON
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside runs --status parked
  trackside runs resume k3x9q2ab
`;

export const resume: Command = {
  help,
  async run(args, io) {
    const { values, positionals } = readArguments(args, STORE_OPTIONS);
    if (values.help) return showHelp(io, help);
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
