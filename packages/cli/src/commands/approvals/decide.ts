import { randomUUID } from "node:crypto";
import type { DecideInput } from "@trackside/host";
import type { Approval } from "trackside";
import { readWord } from "../../arguments.ts";
import { EXIT } from "../../command.ts";
import { Complaint } from "../../complaint.ts";
import { type InStore, STORE_EXIT_HELP, STORE_OPTIONS, STORE_OPTIONS_HELP } from "../../config/in-store.ts";
import type { Io } from "../../io.ts";
import { subject } from "../../screen/approval-view.ts";
import { cleanLine } from "../../screen/clean.ts";
import { findId, shortId } from "../../short-id.ts";
import { readUntil } from "../../until.ts";
import { whoAmI } from "../../who.ts";
import { stateOf } from "./list.ts";

export const ID_HELP = `  <id>      the id of an approval, or an end of it that no other has`;
export const BY_HELP = `  --by name               who decides; your user name on this machine unless given`;
export const JSON_HELP = `  --json                  prints the record as one line of JSON`;
const REMEMBER_HELP = `  --remember              decides calls like this one the same way from now on: the same tool and arguments
  --match tool            with --remember: whatever the arguments are
  --until 2026-12-01      with --remember: until then, or for 12h, 7d; else until it is revoked`;
export const NO_ENGINE_HELP = `It works while no worker is up: the decision is kept, and the run goes on once one is. Deciding the same
again changes nothing; who comes too late is told who was first.`;

/** What is the same in the help of a yes and of a no. */
export const YES_OR_NO_HELP = `${BY_HELP}
${REMEMBER_HELP}
${JSON_HELP}
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}`;

export const DECIDE_OPTIONS = {
  ...STORE_OPTIONS,
  by: { type: "string" },
  reason: { type: "string" },
} as const;

export const REMEMBER_OPTIONS = {
  remember: { type: "boolean" },
  until: { type: "string" },
  match: { type: "string" },
} as const;

/** Decides one, and says what came of it. */
export async function decide(
  { trackside, scope, json, screen, line }: InStore,
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

/** Who decides, and why, as `--by` and `--reason` say it. */
export function signed(
  { by, reason }: { by?: string | undefined; reason?: string | undefined },
  { env }: Pick<Io, "env">,
): { by: string; reason?: string } {
  return { by: by ?? whoAmI(env), ...(reason === undefined ? {} : { reason }) };
}

/** What `--remember` and its like say. */
export function readRemember(values: {
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
