import { noMore, readArguments } from "../../arguments.ts";
import { type Command, showHelp } from "../../command.ts";
import { inStore } from "../../config/in-store.ts";
import {
  DECIDE_OPTIONS,
  decide,
  ID_HELP,
  NO_ENGINE_HELP,
  REMEMBER_OPTIONS,
  readRemember,
  signed,
  YES_OR_NO_HELP,
} from "./decide.ts";

const help = `trackside approvals reject <id>    does not let a call run; the model reads why and goes on

${ID_HELP}

${NO_ENGINE_HELP}

Options
  --reason text           why; the model reads it
${YES_OR_NO_HELP}

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
        ...signed(values, io),
        ...(remember === undefined ? {} : { remember }),
      })),
    );
  },
};
