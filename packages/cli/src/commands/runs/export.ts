import { noMore, readArguments } from "../../arguments.ts";
import { type Command, EXIT, showHelp } from "../../command.ts";
import { inStore, STORE_EXIT_HELP, STORE_OPTIONS, STORE_OPTIONS_HELP } from "../../config/in-store.ts";
import { jsonPage } from "../../screen/clean.ts";
import { findId } from "../../short-id.ts";

const help = `trackside runs export <id>    prints everything there is of a run, as JSON

  <id>      the id of a run, or an end of it that no other has

The record, the pinned definition, every event and every approval.

Options
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside runs export k3x9q2ab > run.json
`;

export const exportRun: Command = {
  help,
  async run(args, io) {
    const { values, positionals } = readArguments(args, STORE_OPTIONS);
    if (values.help) return showHelp(io, help);
    noMore(positionals, 1, "trackside runs export <id>");
    return inStore(io, { ...values, json: true }, async ({ trackside, scope, write }) => {
      const id = await findId(trackside, "runs", positionals[0], scope.tenant);
      write(`${jsonPage(await trackside.runs.export(id, scope))}\n`);
      return EXIT.completed;
    });
  },
};
