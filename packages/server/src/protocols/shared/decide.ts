import type { Trackside } from "@trackside/host";
import { type Approval, type DecisionInput, type Json, TracksideError } from "trackside";
import type { ProtocolCredential } from "../env.ts";
import { requireDecide } from "./access.ts";

/** What a client says about something that waits. */
export type Said =
  | { readonly type: "verdict"; readonly approved: boolean; readonly reason?: string | undefined }
  | { readonly type: "output"; readonly output: Json }
  | { readonly type: "failed"; readonly reason: string }
  /** To a question that a tool asks; null declines. */
  | { readonly type: "answer"; readonly content: Json };

/**
 * Decides one record as the user behind the credential. Somebody else may have been first: then what they decided stands,
 * the run's events tell it, and this answers false (L4).
 */
export async function decide(
  trackside: Trackside,
  credential: ProtocolCredential,
  approval: Approval,
  said: Said,
): Promise<boolean> {
  requireDecide(credential, approval);
  const { tenant, user } = credential;
  const decision = { ...decisionOf(said), by: user.id };
  try {
    await trackside.approvals.decide(approval.id, decision, { tenant });
    return true;
  } catch (error) {
    if (error instanceof TracksideError && error.code === "approval_conflict") return false;
    throw error;
  }
}

function decisionOf(said: Said): DecisionInput {
  switch (said.type) {
    case "output":
      return { choice: "submit", response: said.output };
    case "failed":
      return { choice: "reject", reason: said.reason };
    case "answer":
      return said.content === null ? { choice: "decline" } : { choice: "accept", response: said.content };
    case "verdict": {
      const reason = said.reason ? { reason: said.reason } : {};
      return { choice: said.approved ? "approve" : "reject", ...reason };
    }
  }
}

/** Where a human decides it. */
export function approvalLink(publicUrl: string | undefined, id: string): string {
  return `${publicUrl ?? ""}/inbox/${encodeURIComponent(id)}`;
}
