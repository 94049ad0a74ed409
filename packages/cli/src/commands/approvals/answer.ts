import type { Approval } from "trackside";
import { readResult } from "../../approvals/read-draft.ts";
import { noMore, readArguments, readWord } from "../../arguments.ts";
import { type Command, showHelp } from "../../command.ts";
import { Complaint } from "../../complaint.ts";
import { inStore, STORE_EXIT_HELP, STORE_OPTIONS_HELP } from "../../config/in-store.ts";
import { readAll } from "../../io.ts";
import { BY_HELP, DECIDE_OPTIONS, decide, ID_HELP, JSON_HELP, signed } from "./decide.ts";

const help = `trackside approvals answer <id>    answers what is neither a yes nor a no

${ID_HELP}

A call that was running when its process died, and may not run twice:
  --choice ran --response '…'      it did run, and this was its result
  --choice run                     it did not run: run it now
  --choice give_up                 nobody knows; the model is told so
A client tool:
  --choice submit --response '…'   its result

Options
  --choice word           one of these; "trackside approvals show" says which it takes
  --response json         the result, as JSON or text; "-" reads it from stdin
  --reason text           why; it is kept with the decision
${BY_HELP}
${JSON_HELP}
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside approvals answer k3x9q2ab.1.1 --choice ran --response '"paid 3"'
  trackside approvals answer k3x9q2ab.1.1 --choice give_up
`;

const ANSWERS = ["ran", "run", "give_up", "submit", "reject"] as const;

export const answer: Command = {
  help,
  async run(args, io) {
    const { values, positionals } = readArguments(args, {
      ...DECIDE_OPTIONS,
      choice: { type: "string" },
      response: { type: "string" },
    });
    if (values.help) return showHelp(io, help);
    noMore(positionals, 1, "trackside approvals answer <id> --choice …");
    const choice = readWord("--choice", values.choice, ANSWERS);
    if (choice === undefined) throw new Complaint(`What is the answer? --choice ${ANSWERS.join(", ")}.`);
    const needs = choice === "ran" || choice === "submit";
    if (needs && values.response === undefined)
      throw new Complaint(`--choice ${choice} needs the result: --response '…'.`);
    if (!needs && values.response !== undefined)
      throw new Complaint(`--response goes with --choice ran or submit, not with ${choice}.`);
    const text = values.response === "-" ? await readAll(io.stdin) : values.response;
    return inStore(io, values, (opened) =>
      decide(opened, positionals[0], (approval) => ({
        choice,
        ...signed(values, io),
        ...(text === undefined ? {} : { response: readResponse(text, approval) }),
      })),
    );
  },
};

function readResponse(text: string, { response_schema }: Approval) {
  const read = readResult(text, response_schema);
  if ("problem" in read) throw new Complaint(`--response: ${read.problem}. Nothing was decided.`);
  return read.value;
}
