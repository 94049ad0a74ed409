import { createInterface } from "node:readline";
import type { Approval, DecisionInput, Json, JsonObject } from "trackside";
import type { Input } from "../io.ts";
import { nearest } from "../nearest.ts";
import { type Approver, codeOf, type Desk, messageOf } from "./approver.ts";

const KEYS = ["approval_id", "choice", "reason", "edited_arguments", "response", "by"];
const STDIN = "stdin";

/** What is said on stderr: an approval that waits, one that was decided, or what is wrong with a line. */
export type Report =
  | {
      readonly approval_id: string;
      readonly state: string;
      readonly approval?: Approval;
      readonly decided_by?: string;
    }
  | {
      readonly approval_id: string | null;
      readonly error: { readonly code: string; readonly message: string };
    };

/** Decisions as lines of JSON on stdin, for a program that reads the events: one line, one decision, one report. */
export function decisionLines(desk: Desk, input: Input, report: (report: Report) => void): Approver {
  const open = new Set<string>();
  const lines = createInterface({ input, terminal: false });
  let ended = false;
  let last: Promise<void> = Promise.resolve();

  const decide = async (id: string, decision: DecisionInput) => {
    try {
      const { state, decision: taken } = await desk.decide(id, { by: STDIN, ...decision });
      report({ approval_id: id, state, ...(taken === null ? {} : { decided_by: taken.by }) });
    } catch (error) {
      report({ approval_id: id, error: { code: codeOf(error), message: messageOf(error) } });
    }
  };
  const rejectAbandoned = (id: string) =>
    decide(id, { choice: "reject", reason: "no one is there to approve: stdin has ended" });

  lines.on("line", (line) => {
    if (line.trim() === "") return;
    const read = readLine(line);
    // One after another: the first of two decisions about one approval is the one that counts.
    last = last.then(() =>
      "problem" in read
        ? report({ approval_id: read.id, error: { code: "decision_invalid", message: read.problem } })
        : decide(read.id, read.decision),
    );
  });
  lines.on("close", () => {
    ended = true;
    last = last.then(async () => {
      for (const id of open) await rejectAbandoned(id);
    });
  });

  return {
    away: false,
    asked(approval) {
      open.add(approval.id);
      report({ approval_id: approval.id, state: approval.state, approval });
      if (ended) last = last.then(() => rejectAbandoned(approval.id));
    },
    settled({ approval_id }) {
      open.delete(approval_id);
    },
    async end() {
      open.clear();
      await last;
      lines.close();
    },
  };
}

type ReadLine =
  | { readonly id: string; readonly decision: DecisionInput }
  | { readonly id: string | null; readonly problem: string };

/** One line as a decision, or what is wrong with it. Whether it fits the approval is for the run to say. */
export function readLine(line: string): ReadLine {
  let given: unknown;
  try {
    given = JSON.parse(line);
  } catch (error) {
    return { id: null, problem: `not valid JSON: ${messageOf(error)}` };
  }
  if (!isObject(given)) return { id: null, problem: `a JSON object expected, such as ${EXAMPLE}` };
  const { approval_id: id, choice, reason, edited_arguments, response, by } = given;
  if (typeof id !== "string")
    return { id: null, problem: `approval_id: a string expected, such as in ${EXAMPLE}` };
  const problem = (text: string) => ({ id, problem: text });
  const unknown = Object.keys(given).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) {
    const near = nearest(unknown, KEYS);
    return problem(`${unknown}: unknown; ${near ? `did you mean ${near}?` : `known: ${KEYS.join(", ")}`}`);
  }
  if (typeof choice !== "string") return problem("choice: a string expected, such as approve or reject");
  if (!isOptionalText(reason)) return problem("reason: a string expected");
  if (!isOptionalText(by)) return problem("by: a string expected");
  if (edited_arguments !== undefined && !isObject(edited_arguments))
    return problem("edited_arguments: a JSON object expected");
  const decision: DecisionInput = {
    choice,
    ...(reason === undefined ? {} : { reason }),
    ...(by === undefined ? {} : { by }),
    ...(edited_arguments === undefined ? {} : { editedArguments: edited_arguments }),
    ...(response === undefined ? {} : { response }),
  };
  return { id, decision };
}

const EXAMPLE = '{"approval_id": "…", "choice": "approve"}';

/** Everything in it came out of JSON.parse. */
function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isOptionalText(value: Json | undefined): value is string | undefined {
  return value === undefined || typeof value === "string";
}
