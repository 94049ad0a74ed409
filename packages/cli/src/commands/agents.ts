import { STORE_EXIT_HELP, STORE_OPTIONS_HELP } from "../config/in-store.ts";
import { subcommands } from "../subcommands.ts";
import { remove } from "./agents/delete.ts";
import { diff } from "./agents/diff.ts";
import { exportAgent } from "./agents/export.ts";
import { importAgent } from "./agents/import.ts";
import { list } from "./agents/list.ts";
import { restore } from "./agents/restore.ts";
import { validate } from "./agents/validate.ts";
import { versions } from "./agents/versions.ts";

const help = `trackside agents    lists, checks and copies the agents of a store

  trackside agents [list]                     lists them: those of the config, and those made in the control room
  trackside agents export <name>              prints the definition as JSON
  trackside agents import <file>              makes an agent of a definition, or saves it as the next version
  trackside agents validate <file>            says everything that is wrong with a definition
  trackside agents versions <name>            its versions, the newest first
  trackside agents diff <name> <from> <to>    what differs between two versions
  trackside agents restore <name> <version>   saves an older version as the newest
  trackside agents delete <name>              deletes it; its runs stay

trackside agents <command> --help shows the options of each. "-" as a file reads stdin.

Options of all
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside agents export clerk > clerk.json
  trackside agents import clerk.json
`;

export const command = subcommands("agents", {
  help,
  commands: {
    list,
    export: exportAgent,
    import: importAgent,
    validate,
    versions,
    diff,
    restore,
    delete: remove,
  },
  otherwise: list,
});
