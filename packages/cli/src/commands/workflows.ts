import { STORE_EXIT_HELP, STORE_OPTIONS_HELP } from "../config/in-store.ts";
import { subcommands } from "../subcommands.ts";
import { exportWorkflow } from "./workflows/export.ts";
import { importWorkflow } from "./workflows/import.ts";
import { list } from "./workflows/list.ts";
import { run } from "./workflows/run.ts";
import { show } from "./workflows/show.ts";
import { validate } from "./workflows/validate.ts";

const help = `trackside workflows    lists, checks, copies and runs the workflows of a store

  trackside workflows [list]            lists them: those of the config, and those made in the control room
  trackside workflows show <name>       one of them: its nodes, what leads where, and how its runs went
  trackside workflows validate <file>   says everything that is wrong with a definition
  trackside workflows import <file>     makes a workflow of a definition, or saves it as the next version
  trackside workflows export <name>     prints the definition as JSON
  trackside workflows run <name>        runs it and shows its nodes as they come and go

trackside workflows <command> --help shows the options of each. "-" as a file reads stdin.

Options of all
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside workflows export deploy > deploy.json
  trackside workflows run deploy --input '{"service": "checkout", "version": "2.14"}'
`;

export const command = subcommands("workflows", {
  help,
  commands: { list, show, validate, import: importWorkflow, export: exportWorkflow, run },
  otherwise: list,
});
