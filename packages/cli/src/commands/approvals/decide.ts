import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { DecideInput } from "@trackside/host";
import type { Approval, JsonObject } from "trackside";
import { messageOf } from "../../approvals/approver.ts";
import { readArguments as readJsonArguments, readResult } from "../../approvals/read-draft.ts";
import { noMore, readArguments, readWord } from "../../arguments.ts";
import { type Command, EXIT, showHelp } from "../../command.ts";
import { Complaint } from "../../complaint.ts";
import {
  type InStore,
  inStore,
  STORE_EXIT_HELP,
  STORE_OPTIONS,
  STORE_OPTIONS_HELP,
} from "../../config/in-store.ts";
import { type Io, readAll } from "../../io.ts";
import { subject } from "../../screen/approval-view.ts";
import { cleanLine } from "../../screen/clean.ts";
import { findId, shortId } from "../../short-id.ts";
import { readUntil } from "../../until.ts";
import { whoAmI } from "../../who.ts";
import { stateOf } from "./list.ts";

const ID = `  <id>      the id of an approval, or an end of it that no other has`;
const BY = `  --by name               who decides; your user name on this machine unless given`;
const JSON_OPTION = `  --json                  prints the record as one line of JSON`;
const REMEMBER = `  --remember              decides calls like this one the same way from now on: the same tool and arguments
  --match tool            with --remember: whatever the arguments are
  --until 2026-12-01      with --remember: until then, or for 12h, 7d; else until it is revoked`;
const NO_ENGINE = `It works while no worker is up: the decision is kept, and the run goes on once one is. Deciding the same
again changes nothing; who comes too late is told who was first.`;

const DECIDE = {
  ...STORE_OPTIONS,
  by: { type: "string" },
  reason: { type: "string" },
} as const;

const REMEMBERING = {
  remember: { type: "boolean" },
  until: { type: "string" },
  match: { type: "string" },
} as const;

const approveHelp = `trackside approvals approve <id>    lets a call run, once, with exactly its arguments

${ID}

${NO_ENGINE}

Options
  --edit file.json        runs it with these arguments instead; "-" reads them from stdin. They are checked, and
                          pass the rails again
  --reason text           why; it is kept with the decision
${BY}
${REMEMBER}
${JSON_OPTION}
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside approvals approve k3x9q2ab.1.1
  echo '{"amount": 20}' | trackside approvals approve k3x9q2ab.1.1 --edit -
  trackside approvals approve k3x9q2ab.1.1 --remember --until 7d
`;

export const approve: Command = {
  help: approveHelp,
  async run(args, io) {
    const { values, positionals } = readArguments(args, {
      ...DECIDE,
      ...REMEMBERING,
      edit: { type: "string" },
    });
    if (values.help) return showHelp(io, approveHelp);
    noMore(positionals, 1, "trackside approvals approve <id>");
    const remember = readRemember(values);
    const editedArguments = values.edit === undefined ? undefined : await readEdit(values.edit, io);
    return inStore(io, values, (opened) =>
      decide(opened, io, positionals[0], () => ({
        choice: "approve",
        by: values.by ?? whoAmI(io.env),
        ...(values.reason === undefined ? {} : { reason: values.reason }),
        ...(editedArguments === undefined ? {} : { editedArguments }),
        ...(remember === undefined ? {} : { remember }),
      })),
    );
  },
};

const rejectHelp = `trackside approvals reject <id>    does not let a call run; the model reads why and goes on

${ID}

${NO_ENGINE}

Options
  --reason text           why; the model reads it
${BY}
${REMEMBER}
${JSON_OPTION}
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside approvals reject k3x9q2ab.1.1 --reason "not on a Friday"
`;

export const reject: Command = {
  help: rejectHelp,
  async run(args, io) {
    const { values, positionals } = readArguments(args, { ...DECIDE, ...REMEMBERING });
    if (values.help) return showHelp(io, rejectHelp);
    noMore(positionals, 1, "trackside approvals reject <id>");
    const remember = readRemember(values);
    return inStore(io, values, (opened) =>
      decide(opened, io, positionals[0], () => ({
        choice: "reject",
        by: values.by ?? whoAmI(io.env),
        ...(values.reason === undefined ? {} : { reason: values.reason }),
        ...(remember === undefined ? {} : { remember }),
      })),
    );
  },
};

const answerHelp = `trackside approvals answer <id>    answers what is neither a yes nor a no

${ID}

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
${BY}
${JSON_OPTION}
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside approvals answer k3x9q2ab.1.1 --choice ran --response '"paid 3"'
  trackside approvals answer k3x9q2ab.1.1 --choice give_up
`;

const ANSWERS = ["ran", "run", "give_up", "submit", "reject"] as const;

export const answer: Command = {
  help: answerHelp,
  async run(args, io) {
    const { values, positionals } = readArguments(args, {
      ...DECIDE,
      choice: { type: "string" },
      response: { type: "string" },
    });
    if (values.help) return showHelp(io, answerHelp);
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
      decide(opened, io, positionals[0], (approval) => ({
        choice,
        by: values.by ?? whoAmI(io.env),
        ...(values.reason === undefined ? {} : { reason: values.reason }),
        ...(text === undefined ? {} : { response: readResponse(text, approval) }),
      })),
    );
  },
};

async function decide(
  { trackside, scope, json, screen, line }: InStore,
  _io: Io,
  given: string | undefined,
  decision: (approval: Approval) => DecideInput,
): Promise<number> {
  const id = await findId(trackside, "approvals", given, scope.tenant);
  const approval = await trackside.approvals.get(id, scope);
  const requestId = randomUUID();
  const input = decision(approval);
  if (!approval.choices.includes(input.choice))
    throw new Complaint(
      `${shortId(id)} takes ${approval.choices.join(", ")}, not ${input.choice}. See trackside approvals show ${shortId(id)}.`,
    );
  const decided = await trackside.approvals.decide(id, { ...input, requestId }, scope);
  const mine = decided.decision?.request_id === requestId;
  if (json) line(decided);
  else {
    const name = subject(decided, undefined);
    const was = mine ? "" : " before; nothing was changed";
    const colour = decided.state === "approved" ? "green" : "red";
    screen.line(
      `${screen.paint(colour, "◆")} ${shortId(id)} ${name} ${screen.paint(colour, `${stateOf(decided)}${was}`)}`,
    );
    if (mine && input.remember !== undefined)
      screen.line(
        screen.paint("dim", `  remembered as rule_${cleanLine(id)}; trackside approvals rules lists them`),
      );
  }
  return EXIT.completed;
}

function readRemember(values: {
  remember?: boolean | undefined;
  until?: string | undefined;
  match?: string | undefined;
}): DecideInput["remember"] {
  const match = readWord("--match", values.match, ["exact-arguments", "tool"]);
  const until = values.until === undefined ? undefined : readUntil("--until", values.until, Date.now());
  if (values.remember)
    return { ...(match === undefined ? {} : { match }), ...(until === undefined ? {} : { until }) };
  if (match !== undefined || until !== undefined)
    throw new Complaint("--match and --until say how a decision is remembered: they go with --remember.");
  return undefined;
}

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

function readResponse(text: string, { response_schema }: Approval) {
  const read = readResult(text, response_schema);
  if ("problem" in read) throw new Complaint(`--response: ${read.problem}. Nothing was decided.`);
  return read.value;
}
