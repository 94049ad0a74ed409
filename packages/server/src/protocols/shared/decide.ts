import type { Trackside } from "@trackside/host";
import { type Approval, type Json, TracksideError } from "trackside";
import type { ProtocolCredential } from "../env.ts";
import { requireDecide } from "./access.ts";

/** What a client says about something that waits. */
export type Said =
  | { readonly type: "verdict"; readonly approved: boolean; readonly reason?: string | undefined }
  | { readonly type: "output"; readonly output: Json }
  | { readonly type: "failed"; readonly reason: string };

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
  const by = user.id;
  const decision =
    said.type === "output"
      ? { choice: "submit", response: said.output, by }
      : said.type === "failed"
        ? { choice: "reject", reason: said.reason, by }
        : {
            choice: said.approved ? "approve" : "reject",
            ...(said.reason === undefined || said.reason === "" ? {} : { reason: said.reason }),
            by,
          };
  try {
    await trackside.approvals.decide(approval.id, decision, { tenant });
    return true;
  } catch (error) {
    if (error instanceof TracksideError && error.code === "approval_conflict") return false;
    throw error;
  }
}

/** Where a human decides it. */
export function approvalLink(publicUrl: string | undefined, id: string): string {
  return `${publicUrl ?? ""}/approvals/${encodeURIComponent(id)}`;
}
