import type { JsonObject } from "trackside";
import * as z from "zod";
import { versioned } from "../store/rows/versioned.ts";
import type { ApprovalRulesTable } from "../store/tables.ts";

const scopeKeys = z.custom<JsonObject>((value) => typeof value === "object" && value !== null);

const version1 = z.object({
  v: z.literal(1),
  agent: z.string().nullable(),
  /** `exact-arguments`: these arguments and no others. `tool`: whatever the arguments are. */
  match: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("exact-arguments"), digest: z.string() }),
    z.object({ kind: z.literal("tool") }),
  ]),
  effect: z.enum(["approve", "reject"]),
  /** Keys of the run's scope that must have these values; others do not matter. */
  scope: scopeKeys,
  /** The tool's schemas when it was made: another tool by the same name is another tool. */
  tool_digest: z.string(),
  /** Why people were asked then, as digests: a question that nobody was asked before is asked. */
  reasons: z.array(z.string()),
  created_by: z.string(),
  reason: z.string(),
  revoked: z.object({ by: z.string(), at: z.number(), reason: z.string() }).nullable(),
});

/** Bodies of remembered decisions. */
export const ruleBody = versioned({
  name: "approval_rules",
  current: 1,
  versions: { 1: version1 },
  upgrade: {},
});

/** "Always allow this": a decision that is remembered. */
export type ApprovalRule = Omit<z.infer<typeof version1>, "v"> & {
  readonly id: string;
  readonly tenant: string;
  readonly tool: string;
  readonly created_at: number;
  /** Unix ms from which on it says nothing any more; null lasts until it is revoked. */
  readonly until: number | null;
};

export function ruleRow(rule: ApprovalRule): ApprovalRulesTable {
  const { id, tenant, tool, created_at, until, ...rest } = rule;
  const revoked_at = rule.revoked?.at ?? null;
  return { id, tenant, tool, created_at, until, revoked_at, body: ruleBody.write({ v: 1, ...rest }) };
}

export function readRule(row: ApprovalRulesTable): ApprovalRule {
  const { v: _, ...rest } = ruleBody.read(row.body, row.id);
  const { id, tenant, tool, created_at, until } = row;
  return { id, tenant, tool, created_at, until, ...rest };
}
