import type { Approval, Json, Scope } from "trackside";
import { digestOf } from "trackside/engine";
import type { ApprovalRule } from "./rule.ts";

/** What a rule is held against: an approval that is about to be opened, and the run that asks. */
export interface RuleQuestion {
  readonly tenant: string;
  /** The agent that asks. */
  readonly agent: string;
  readonly scope: Scope;
  readonly approval: Pick<Approval, "kind" | "tool" | "digest" | "reasons" | "tool_digest">;
}

/** Whether a rule says something to a question at this time. Whatever is not known counts as different. */
export function ruleMatches(rule: ApprovalRule, question: RuleQuestion, now: number): boolean {
  const { approval, tenant, agent, scope } = question;
  if (approval.kind !== "tool_call") return false;
  if (rule.tenant !== tenant || scope.tenant !== tenant || rule.tool !== approval.tool) return false;
  if (rule.revoked !== null || (rule.until !== null && now >= rule.until)) return false;
  if (rule.agent !== null && rule.agent !== agent) return false;
  if (approval.tool_digest === undefined || rule.tool_digest !== approval.tool_digest) return false;
  if (rule.match.kind === "exact-arguments" && rule.match.digest !== approval.digest) return false;
  if (!approval.reasons.every((reason) => rule.reasons.includes(digestOf(reason)))) return false;
  return Object.entries(rule.scope).every(
    ([key, value]) => Object.hasOwn(scope, key) && same(scope[key], value),
  );
}

function same(a: Json | undefined, b: Json): boolean {
  return a !== undefined && digestOf(a) === digestOf(b);
}
