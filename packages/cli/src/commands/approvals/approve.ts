import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { JsonObject } from "trackside";
import { messageOf } from "../../approvals/approver.ts";
import { readArguments as readJsonArguments } from "../../approvals/read-draft.ts";
import { noMore, readArguments } from "../../arguments.ts";
import { type Command, showHelp } from "../../command.ts";
import { Complaint } from "../../complaint.ts";
import { inStore } from "../../config/in-store.ts";
import { type Io, readAll } from "../../io.ts";
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

const help = `trackside approvals approve <id>    lets a call run, once, with exactly its arguments

${ID_HELP}

${NO_ENGINE_HELP}

Options
  --edit file.json        runs it with these arguments instead; "-" reads them from stdin. They are checked, and
                          pass the rails again
  --reason text           why; it is kept with the decision
${YES_OR_NO_HELP}

Examples
  trackside approvals approve k3x9q2ab.1.1
  echo '{"amount": 20}' | trackside approvals approve k3x9q2ab.1.1 --edit -
  trackside approvals approve k3x9q2ab.1.1 --remember --until 7d
`;

export const approve: Command = {
  help,
  async run(args, io) {
    const { values, positionals } = readArguments(args, {
      ...DECIDE_OPTIONS,
      ...REMEMBER_OPTIONS,
      edit: { type: "string" },
    });
    if (values.help) return showHelp(io, help);
    noMore(positionals, 1, "trackside approvals approve <id>");
    const remember = readRemember(values);
    const editedArguments = values.edit === undefined ? undefined : await readEdit(values.edit, io);
    return inStore(io, values, (opened) =>
      decide(opened, positionals[0], () => ({
        choice: "approve",
        ...signed(values, io),
        ...(editedArguments === undefined ? {} : { editedArguments }),
        ...(remember === undefined ? {} : { remember }),
      })),
    );
  },
};

async function readEdit(given: string, io: Io): Promise<JsonObject> {
  const where = given === "-" ? "stdin" : given;
  let text: string;
  try {
    text = given === "-" ? await readAll(io.stdin) : readFileSync(resolve(io.cwd, given), "utf8");
  } catch (error) {
    throw new Complaint(`--edit: ${given} cannot be read: ${messageOf(error)}`);
  }
  const read = readJsonArguments(text);
  if ("problem" in read) throw new Complaint(`--edit: ${where}: ${read.problem}. Nothing was decided.`);
  return read.value;
}
