import { type Approval, isWait, subjectOf } from "./approval.ts";

/** A choice as it is offered: a button, what it needs, and the key that stands for it. */
export interface Action {
  choice: string;
  /** A verb and what it acts on: "Approve deploy_service". */
  label: string;
  /** Without what it acts on, where that is plain: "Approve". */
  verb: string;
  look: "primary" | "plain";
  /** Fixed keys: A says yes, D says no. Absent where one press would be too easy. */
  key?: "a" | "d";
  /** A value is sent along, checked by the request's schema. */
  needsResponse: boolean;
  /** Opens a field for the reason first. */
  asksReason: boolean;
  /** Asks once more, since what it does cannot be taken back. */
  confirms: boolean;
}

type Asked = Pick<Approval, "kind" | "choices" | "tool" | "irreversible" | "response_schema">;

const LABELS: Readonly<Record<string, (subject: string) => string>> = {
  approve: (subject) => `Approve ${subject}`,
  reject: (subject) => `Reject ${subject}`,
  submit: (subject) => `Send result of ${subject}`,
  ran: (subject) => `${subject} ran: send its result`,
  run: (subject) => `Run ${subject} again`,
  give_up: (subject) => `Give up on ${subject}`,
  accept: (subject) => `Answer ${subject}`,
  decline: (subject) => `Decline ${subject}`,
};

const VERBS: Readonly<Record<string, string>> = {
  submit: "Send result",
  ran: "It ran",
  run: "Run again",
  accept: "Answer",
};

const YES = new Set(["approve", "submit", "accept"]);
const NO = new Set(["reject", "decline", "give_up"]);

/** What can be chosen, in the order of the record: the way forward first. */
export function actionsOf(asked: Asked): Action[] {
  const subject = subjectOf(asked);
  return asked.choices.map((choice): Action => {
    const needsResponse =
      choice === "submit" || choice === "ran" || choice === "accept" || needsNodeResponse(asked, choice);
    // Running it, for the first time or once more. To reject and to give up run nothing.
    const runs = choice === "approve" || choice === "run";
    const confirms = runs && (asked.irreversible || choice === "run");
    const key = NO.has(choice) ? "d" : YES.has(choice) && !asked.irreversible ? "a" : undefined;
    return {
      choice,
      label:
        choice === "submit" && isWait(asked)
          ? `Send it to ${subject}`
          : (LABELS[choice]?.(subject) ?? `${capital(choice)} ${subject}`),
      verb: choice === "submit" && isWait(asked) ? "Send it" : (VERBS[choice] ?? capital(choice)),
      look: YES.has(choice) || choice === "ran" ? "primary" : "plain",
      ...(key !== undefined && { key }),
      needsResponse,
      asksReason: NO.has(choice),
      confirms,
    };
  });
}

/** A node of a workflow may ask for an answer with its approval. */
function needsNodeResponse({ kind, response_schema }: Asked, choice: string): boolean {
  return kind === "workflow_node" && response_schema !== null && YES.has(choice);
}

function capital(choice: string): string {
  const words = choice.replaceAll("_", " ");
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

/** Only a call that is yet to run has arguments to edit. */
export function canEdit({
  kind,
  arguments: args,
  choices,
}: Pick<Approval, "kind" | "arguments" | "choices">) {
  return kind === "tool_call" && args !== null && choices.includes("approve");
}

export function canRemember({ kind, tool_digest }: Pick<Approval, "kind" | "tool_digest">): boolean {
  return kind === "tool_call" && tool_digest !== undefined;
}

/** What the value that goes along is called. */
export function responseName({ kind, choices }: Pick<Approval, "kind" | "choices">): string {
  if (isWait({ kind, choices })) return "What is sent";
  return kind === "elicitation" || kind === "workflow_node" ? "Answer" : "Result";
}
