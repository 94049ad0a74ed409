import { noMore, readArguments } from "../../arguments.ts";
import { type Command, showHelp } from "../../command.ts";
import { inStore, STORE_EXIT_HELP, STORE_OPTIONS_HELP } from "../../config/in-store.ts";
import { whoAmI } from "../../who.ts";
import {
  BY_HELP,
  DECIDE_OPTIONS,
  decide,
  ID_HELP,
  JSON_HELP,
  NO_ENGINE_HELP,
  REMEMBER_HELP,
  REMEMBER_OPTIONS,
  readRemember,
} from "./decide.ts";

const help = `trackside approvals reject <id>    does not let a call run; the model reads why and goes on

${ID_HELP}

${NO_ENGINE_HELP}

Options
  --reason text           why; the model reads it
${BY_HELP}
${REMEMBER_HELP}
${JSON_HELP}
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside approvals reject k3x9q2ab.1.1 --reason "not on a Friday"
`;

export const reject: Command = {
  help,
  async run(args, io) {
    const { values, positionals } = readArguments(args, { ...DECIDE_OPTIONS, ...REMEMBER_OPTIONS });
    if (values.help) return showHelp(io, help);
    noMore(positionals, 1, "trackside approvals reject <id>");
    const remember = readRemember(values);
    return inStore(io, values, (opened) =>
      decide(opened, positionals[0], () => ({
        choice: "reject",
        by: values.by ?? whoAmI(io.env),
        ...(values.reason === undefined ? {} : { reason: values.reason }),
        ...(remember === undefined ? {} : { remember }),
      })),
    );
  },
};
