import type { Approval, DecisionInput } from "trackside";
import { type Approver, type Desk, messageOf } from "./approver.ts";

/** Decides at once, the same way every time. */
export interface Rule {
  /** Named in the record, as who decided. */
  readonly by: string;
  /** Said before it decides. */
  readonly announce: (approval: Approval) => void;
  readonly decide: (approval: Approval) => DecisionInput;
  /** A decision was not taken. */
  readonly failed: (message: string) => void;
}

/** Nobody is asked: a rule decides. */
export function automatic(desk: Desk, rule: Rule): Approver {
  const deciding = new Set<Promise<void>>();
  return {
    away: false,
    asked(approval) {
      rule.announce(approval);
      const done = desk
        .decide(approval.id, { by: rule.by, ...rule.decide(approval) })
        .then(
          () => {},
          (error: unknown) => rule.failed(messageOf(error)),
        )
        .finally(() => deciding.delete(done));
      deciding.add(done);
    },
    settled() {},
    async end() {
      await Promise.all(deciding);
    },
  };
}

export const NO_ONE = "no one is there to approve (use --approve)";

export function rejects(reason: string): Rule["decide"] {
  return () => ({ choice: "reject", reason });
}

/** Approves what can be approved. What takes an answer instead is rejected: there is none to give. */
export function approves({ choices }: Approval): DecisionInput {
  if (choices.includes("approve")) return { choice: "approve" };
  return { choice: "reject", reason: "no one is there to supply a result" };
}
