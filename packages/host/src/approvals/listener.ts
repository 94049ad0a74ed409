import { appendAudit } from "../audit/index.ts";
import { runBody } from "../journal/row-codecs.ts";
import type { RunBody } from "../journal/rows.ts";
import type { ApprovalRules } from "../rules/index.ts";
import type { Cipher } from "../secrets/index.ts";
import { type Builder, type Operation, rows } from "../store/store.ts";
import { enqueueWebhook, type WebhookEndpoint, webhookEventOf } from "../webhooks/index.ts";
import type { ApprovalListener } from "./approvals.ts";

export interface ListenerInit {
  readonly cipher: Cipher;
  readonly rules: ApprovalRules;
  readonly endpoints: readonly WebhookEndpoint[];
  readonly now: () => number;
  /** A webhook may be waiting to be sent. */
  readonly queued: () => void;
}

/** What else an approval does, in the transaction that opens or closes it: rules, webhooks, and last the audit. */
export function approvalListener({ cipher, rules, endpoints, now, queued }: ListenerInit): ApprovalListener {
  return {
    *opened(db, tenant, approval) {
      yield* mark(db, approval.run_id, "waiting", now());
      const question = { tenant, ...(yield* runOf(db, approval.run_id)), approval };
      const rule = approval.kind === "tool_call" ? yield* rules.match(question, now())(db) : undefined;
      yield* enqueueWebhook(endpoints, webhookEventOf(tenant, approval))(db);
      queued();
      if (rule === undefined) return undefined;
      const state = rule.effect === "approve" ? ("approved" as const) : ("rejected" as const);
      const choice = rule.effect === "approve" ? "approve" : "reject";
      return {
        ...approval,
        state,
        decision: { choice, by: `rule:${rule.id}`, at: now(), reason: rule.reason },
      };
    },

    *closed(db, tenant, approval, given) {
      yield* mark(db, approval.run_id, "running", now());
      if (given?.remember !== undefined && approval.kind === "tool_call") {
        const question = { tenant, ...(yield* runOf(db, approval.run_id)), approval };
        const rule = {
          id: `rule_${approval.id}`,
          question,
          match: given.remember.match === "tool" ? ("tool" as const) : ("exact-arguments" as const),
          effect: approval.state === "approved" ? ("approve" as const) : ("reject" as const),
          until: given.remember.until ?? null,
          by: given.by ?? "approver",
          scopeKeys: given.remember.scopeKeys ?? [],
        };
        yield* rules.create(rule, now())(db);
      }
      yield* enqueueWebhook(endpoints, webhookEventOf(tenant, approval))(db);
      queued();
      const { decision } = approval;
      yield* appendAudit(cipher, {
        tenant,
        at: now(),
        action: "approval.decided",
        by: decision?.by ?? "",
        about: {
          approval: approval.id,
          run: approval.run_id,
          tool: approval.tool,
          kind: approval.kind,
          state: approval.state,
        },
        before: approval.arguments,
        after: decision?.edited_arguments ?? approval.arguments,
      })(db);
    },
  };
}

function* runOf(db: Builder, runId: string): Operation<{ agent: string; scope: RunBody["scope"] }> {
  const [row] = yield* rows(db.selectFrom("runs").select(["agent", "body"]).where("id", "=", runId));
  const body = row && runBody.read(row.body, runId);
  return { agent: row?.agent ?? "", scope: body?.scope ?? { tenant: "default" } };
}

/** A run that waits for a human says so to whoever lists runs. */
function* mark(db: Builder, runId: string, status: "waiting" | "running", at: number): Operation<void> {
  const pending = yield* rows(
    db
      .selectFrom("approvals")
      .select("id")
      .where("run_id", "=", runId)
      .where("state", "=", "pending")
      .limit(1),
  );
  yield* rows(
    db
      .updateTable("runs")
      .set({ status: pending.length > 0 ? "waiting" : status, updated_at: at })
      .where("id", "=", runId)
      .where("status", "in", ["running", "waiting"]),
  );
}
