import { STORE_EXIT_HELP, STORE_OPTIONS_HELP } from "../../config/in-store.ts";
import { onOne } from "../../config/on-one.ts";
import { jsonPage } from "../../screen/clean.ts";

const help = `trackside runs export <id>    prints everything there is of a run, as JSON

  <id>      the id of a run, or an end of it that no other has

The record, the pinned definition, every event and every approval.

Options
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside runs export k3x9q2ab > run.json
`;

export const exportRun = onOne({
  help,
  usage: "trackside runs export <id>",
  table: "runs",
  json: true,
  async work({ trackside, scope, write }, id) {
    write(`${jsonPage(await trackside.runs.export(id, scope))}\n`);
  },
});
