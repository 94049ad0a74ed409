import { STORE_EXIT_HELP } from "../config/in-store.ts";
import { subcommands } from "../subcommands.ts";
import { list } from "./audit/list.ts";
import { verify } from "./audit/verify.ts";

const help = `trackside audit    who decided what, in a chain that shows when somebody has edited it

  trackside audit [list]    lists the rows, oldest first
  trackside audit verify    checks every row; exit code 1 names the first that is not as it was

trackside audit <command> --help shows the options of each.

${STORE_EXIT_HELP}

Examples
  trackside audit
  trackside audit verify
`;

export const command = subcommands("audit", { help, commands: { list, verify }, otherwise: list });
