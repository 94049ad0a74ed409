import type { Approval } from "./approval.ts";

type Decided = Pick<Approval, "state" | "decision">;

export const STATE_WORDS: Record<Approval["state"], string> = {
  pending: "waiting for you",
  approved: "approved",
  rejected: "rejected",
  timed_out: "timed out",
  cancelled: "cancelled",
};

/** What was chosen, where "approved" would hide it: "It did not run, run it" and "it ran" are both. */
const CHOICE_WORDS: Readonly<Record<string, string>> = {
  submit: "result given",
  ran: "it ran",
  run: "run again",
  give_up: "given up",
  accept: "answered",
  decline: "declined",
};

const RULE = /^rule:/;

export function outcomeWord({ state, decision }: Decided): string {
  const chosen = decision && CHOICE_WORDS[decision.choice];
  const word = chosen ?? STATE_WORDS[state];
  return decision?.edited_arguments === undefined ? word : `${word} with changes`;
}

/** Who decided, as it stands after "by". Null for a deadline or a cancel, which nobody decided. */
export function deciderOf({ state, decision }: Decided, me?: string): string | null {
  if (decision === null || state === "timed_out" || state === "cancelled") return null;
  if (RULE.test(decision.by)) return "a remembered rule";
  return decision.by === me ? "you" : decision.by;
}

/** "Decided by bo: approved". */
export function decidedWords(decided: Decided, me?: string): string {
  const { state, decision } = decided;
  if (state === "timed_out") return "Timed out: nobody decided before the deadline";
  if (state === "cancelled")
    return `Cancelled${decision?.reason ? `: ${decision.reason}` : ": the run was stopped"}`;
  return `Decided by ${deciderOf(decided, me) ?? "somebody"}: ${outcomeWord(decided)}`;
}

/** What to say to the one who came second. */
export function conflictWords(decided: Decided, me?: string): string {
  if (decided.state === "pending") return "It was closed meanwhile.";
  if (decided.state === "timed_out") return "The deadline passed first. Your decision was not used.";
  if (decided.state === "cancelled") return "The run was stopped first. Your decision was not used.";
  const who = deciderOf(decided, me);
  const subject = who === "you" ? "You" : (who ?? "Somebody");
  return `${subject.slice(0, 1).toUpperCase()}${subject.slice(1)} decided first: ${outcomeWord(decided)}. Your decision was not used.`;
}
