import { STORE_EXIT_HELP, STORE_OPTIONS_HELP } from "../config/in-store.ts";
import { subcommands } from "../subcommands.ts";
import { cancel } from "./runs/cancel.ts";
import { exportRun } from "./runs/export.ts";
import { list } from "./runs/list.ts";
import { resume } from "./runs/resume.ts";
import { retry } from "./runs/retry.ts";
import { show } from "./runs/show.ts";
import { tail } from "./runs/tail.ts";

const help = `trackside runs    lists, shows and steers the runs of a store

  trackside runs [list]         lists runs, the newest first
  trackside runs show <id>      the record of a run, and what happened when
  trackside runs tail <id>      follows a run to its end; Ctrl-C leaves it running
  trackside runs cancel <id>    stops a run, wherever it is
  trackside runs resume <id>    lets a parked run go on
  trackside runs retry <id>     runs it again from one of its steps, as a new run
  trackside runs export <id>    everything there is of a run, as JSON

The end of an id is enough where no other run has it. trackside runs <command> --help shows the options of each.

Options of all
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside runs --status waiting
  trackside runs show k3x9q2ab
`;

export const command = subcommands("runs", {
  help,
  commands: { list, show, tail, cancel, resume, retry, export: exportRun },
  otherwise: list,
});
