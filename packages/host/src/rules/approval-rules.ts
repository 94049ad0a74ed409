import { type JsonObject, TracksideError } from "trackside";
import { digestOf, newId } from "trackside/engine";
import { appendAudit } from "../audit/append.ts";
import type { Cipher } from "../secrets/cipher.ts";
import { changed, rows, type Work } from "../store/store.ts";
import { type RuleQuestion, ruleMatches } from "./match.ts";
import { type ApprovalRule, readRule, ruleRow } from "./rule.ts";

export interface ApprovalRulesOptions {
  readonly cipher: Cipher;
  /** Off, no rule is made and none is asked; what there is can still be listed and revoked. On unless given. */
  readonly enabled?: boolean;
}

/** A rule as somebody asks for it, made from a question that a person has just decided. */
export interface NewRule {
  /** Its own, where the caller must be able to ask twice; else it is given one. */
  readonly id?: string;
  readonly question: RuleQuestion;
  readonly match: "exact-arguments" | "tool";
  readonly effect?: "approve" | "reject";
  /** For every agent of the tenant, instead of the one that asked. */
  readonly anyAgent?: boolean;
  /** Keys of the run's scope that a later run has to share, such as `user`. */
  readonly scopeKeys?: readonly string[];
  /** Unix ms; null lasts until it is revoked. */
  readonly until: number | null;
  readonly by: string;
  readonly reason?: string;
}

export interface ApprovalRules {
  readonly enabled: boolean;
  create(rule: NewRule, now: number): Work<ApprovalRule>;
  list(
    tenant: string,
    options?: { readonly tool?: string; readonly revoked?: boolean },
  ): Work<readonly ApprovalRule[]>;
  /** Revoked again it stays as it is. */
  revoke(
    tenant: string,
    id: string,
    revoked: { readonly by: string; readonly reason?: string },
    now: number,
  ): Work<ApprovalRule>;
  /**
   * The rule that decides a question, in the transaction that opens its approval: the record is still made, decided by
   * `rule:<id>` (L8). A reject wins over an approve. A rule is revoked before or after this transaction, never during it.
   */
  match(question: RuleQuestion, now: number): Work<ApprovalRule | undefined>;
}

/** Remembered decisions. */
export function approvalRules({ cipher, enabled = true }: ApprovalRulesOptions): ApprovalRules {
  return {
    enabled,
    create: (rule, now) => createRule(cipher, enabled, rule, now),
    list: listRules,
    revoke: (tenant, id, revoked, now) => revokeRule(cipher, tenant, id, revoked, now),
    match: (question, now) => (enabled ? matchRule(question, now) : nothing),
  };
}

// biome-ignore lint/correctness/useYield: it has nothing to ask
function* nothing(): Generator<never, undefined> {
  return undefined;
}

function createRule(cipher: Cipher, enabled: boolean, given: NewRule, now: number): Work<ApprovalRule> {
  return function* (db) {
    const rule = newRule(enabled, given, now);
    const made = yield* changed(
      db
        .insertInto("approval_rules")
        .values(ruleRow(rule))
        .onConflict((on) => on.column("id").doNothing()),
    );
    if (made === 0) return yield* find(rule.tenant, rule.id)(db);
    const { tenant, id, tool, agent, match, effect, until } = rule;
    const about = { rule: id, tool, agent, match: match.kind, effect, until };
    yield* appendAudit(cipher, { tenant, at: now, action: "rule.created", by: given.by, about, after: rule })(
      db,
    );
    return rule;
  };
}

function newRule(enabled: boolean, given: NewRule, now: number): ApprovalRule {
  const { question, until, by, reason = "", effect = "approve", anyAgent = false, scopeKeys = [] } = given;
  const { approval, tenant, agent, scope } = question;
  if (!enabled)
    throw refused("rules_off", "remembered decisions are switched off here; decide this one call instead");
  if (approval.kind !== "tool_call" || approval.tool === null)
    throw refused(
      "rule_invalid",
      `only a decision about a tool call can be remembered, not one of kind "${approval.kind}"`,
    );
  if (approval.tool_digest === undefined)
    throw refused(
      "rule_invalid",
      `the approval of "${approval.tool}" does not say which schemas the tool had`,
    );
  if (until !== null && !(until > now))
    throw refused("rule_invalid", `until: a time after now (${now}) or null expected, ${until} given`);
  return {
    id: given.id ?? newId("rule"),
    tenant,
    tool: approval.tool,
    agent: anyAgent ? null : agent,
    match: given.match === "tool" ? { kind: "tool" } : { kind: "exact-arguments", digest: approval.digest },
    effect,
    scope: pick(scope, scopeKeys),
    tool_digest: approval.tool_digest,
    reasons: approval.reasons.map((one) => digestOf(one)),
    created_by: by,
    created_at: now,
    reason,
    until,
    revoked: null,
  };
}

function pick(scope: JsonObject, keys: readonly string[]): JsonObject {
  const entries = keys.map((key) => {
    const value = Object.hasOwn(scope, key) ? scope[key] : undefined;
    if (value !== undefined) return [key, value] as const;
    const there = Object.keys(scope).join(", ");
    throw refused("rule_invalid", `scopeKeys: the run's scope has no "${key}"; it has ${there}`);
  });
  return Object.fromEntries(entries);
}

function listRules(
  tenant: string,
  options: { readonly tool?: string; readonly revoked?: boolean } = {},
): Work<readonly ApprovalRule[]> {
  const { tool, revoked = false } = options;
  return function* (db) {
    let query = db.selectFrom("approval_rules").selectAll().where("tenant", "=", tenant);
    if (tool !== undefined) query = query.where("tool", "=", tool);
    if (!revoked) query = query.where("revoked_at", "is", null);
    return (yield* rows(query.orderBy("created_at", "desc").orderBy("id", "desc"))).map(readRule);
  };
}

function revokeRule(
  cipher: Cipher,
  tenant: string,
  id: string,
  { by, reason = "" }: { readonly by: string; readonly reason?: string },
  now: number,
): Work<ApprovalRule> {
  return function* (db) {
    const before = yield* find(tenant, id)(db);
    const after = { ...before, revoked: { by, at: now, reason } };
    const { revoked_at, body } = ruleRow(after);
    const mine = yield* changed(
      db
        .updateTable("approval_rules")
        .set({ revoked_at, body })
        .where("id", "=", id)
        .where("tenant", "=", tenant)
        .where("revoked_at", "is", null),
    );
    if (mine === 0) return yield* find(tenant, id)(db);
    const about = { rule: id, tool: before.tool };
    yield* appendAudit(cipher, { tenant, at: now, action: "rule.revoked", by, about, before, after })(db);
    return after;
  };
}

function matchRule(question: RuleQuestion, now: number): Work<ApprovalRule | undefined> {
  const { tool } = question.approval;
  return function* (db) {
    if (tool === null) return undefined;
    const found = (yield* listRules(question.tenant, { tool })(db)).filter((rule) =>
      ruleMatches(rule, question, now),
    );
    const ordered = [
      ...found.filter(({ effect }) => effect === "reject"),
      ...found.filter(({ effect }) => effect === "approve"),
    ];
    for (const rule of ordered) {
      // Holds the row: who revokes it now waits for this transaction, and who has done so already wins.
      const held = yield* changed(
        db
          .updateTable("approval_rules")
          .set((column) => ({ created_at: column.ref("created_at") }))
          .where("id", "=", rule.id)
          .where("revoked_at", "is", null),
      );
      if (held > 0) return rule;
    }
    return undefined;
  };
}

function find(tenant: string, id: string): Work<ApprovalRule> {
  return function* (db) {
    const [row] = yield* rows(
      db.selectFrom("approval_rules").selectAll().where("tenant", "=", tenant).where("id", "=", id),
    );
    if (row !== undefined) return readRule(row);
    throw refused("rule_unknown", `there is no rule "${id}" in the tenant "${tenant}"`);
  };
}

function refused(code: string, message: string): TracksideError {
  return new TracksideError(code, message);
}
