import type { Approval } from "trackside";
import type { ProtocolCredential } from "../env.ts";
import { Refusal } from "./refusal.ts";

/** Operators and admins start, steer and cancel runs. */
export function mayStart({ role }: ProtocolCredential): boolean {
  return role === "operator" || role === "admin";
}

/** Approvers and admins decide what a human was asked. */
export function mayDecide({ role }: ProtocolCredential): boolean {
  return role === "approver" || role === "admin";
}

export function requireStart(credential: ProtocolCredential): void {
  if (mayStart(credential)) return;
  const message = `Starting, steering and stopping runs needs the role operator or admin; this credential has ${credential.role}.`;
  throw new Refusal(403, "forbidden", message);
}

/**
 * Client tools and questions of tools are answered by whoever drives the run, unless somebody asked for a human as well
 * (T8, L1).
 */
export function requireDecide(credential: ProtocolCredential, { kind, reasons, id }: Approval): void {
  if (mayDecide(credential)) return;
  const isDriver = (kind === "client_tool" && reasons.length <= 1) || kind === "elicitation";
  if (isDriver && mayStart(credential)) return;
  const message = `Deciding ${id} needs the role approver or admin; this credential has ${credential.role}.`;
  throw new Refusal(403, "forbidden", message);
}
