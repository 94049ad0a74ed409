import type { Approval, DecisionInput, DurableEventOf } from "trackside";

/** What whoever decides may do with a run. */
export interface Desk {
  /** Rejects when it is closed already, or when the decision does not fit. */
  decide(approvalId: string, decision: DecisionInput): Promise<Approval>;
  /** What Ctrl-C does. */
  interrupt(): void;
}

/** Decides, in one run, about what must not happen without a decision. */
export interface Approver {
  /** Something waits for a decision. */
  asked(approval: Approval): void;
  /** It was decided, by whomever. */
  settled(event: DurableEventOf<"approval">): void;
  /** The run is over. Resolves when nobody is being asked any more. */
  end(): Promise<void>;
  /** Another program has the terminal, and Ctrl-C is its own. */
  readonly away: boolean;
}

export type MakeApprover = (desk: Desk) => Approver;

/** Who decided, when it was a person at this terminal. */
export const PERSON = "terminal";

/** The stable code of an error of the library, whichever copy of it made the error. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
