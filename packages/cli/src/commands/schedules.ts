import { STORE_EXIT_HELP, STORE_OPTIONS_HELP } from "../config/in-store.ts";
import { subcommands } from "../subcommands.ts";
import { list } from "./schedules/list.ts";
import { next } from "./schedules/next.ts";
import { run } from "./schedules/run.ts";
import { disable, enable } from "./schedules/switch.ts";

const help = `trackside schedules    lists, fires and switches what starts by the clock or by a webhook

  trackside schedules [list]             lists them: what each starts, when it is due next, and what came of it last
  trackside schedules next <name>        the next five times of one
  trackside schedules next "<pattern>" --zone <zone>    the same of a pattern, before there is a schedule of it
  trackside schedules run <name>         fires it now and waits for its run
  trackside schedules enable <name>      switches it on
  trackside schedules disable <name>     switches it off

Schedules are made in the control room or over HTTP. They are due while trackside start, dev or worker runs on the
store; what is missed meanwhile is handled as each of them says.

Options of all
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside schedules
  trackside schedules next "0 7 * * 1-5" --zone Europe/Berlin
`;

export const command = subcommands("schedules", {
  help,
  commands: { list, next, run, enable, disable },
  otherwise: list,
});
