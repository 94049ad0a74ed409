import { STORE_EXIT_HELP, STORE_OPTIONS_HELP } from "../../config/in-store.ts";
import { onOne } from "../../config/on-one.ts";
import { shortId } from "../../short-id.ts";

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

export const resume = onOne({
  help,
  usage: "trackside runs resume <id>",
  table: "runs",
  async work({ trackside, scope, json, screen, line }, id) {
    const run = await trackside.runs.resume(id, scope);
    if (json) line(run);
    else screen.line(`${shortId(id)} goes on in the next worker that is free.`);
  },
});
