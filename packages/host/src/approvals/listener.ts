import { appendAudit } from "../audit/index.ts";
import { runBody } from "../journal/row-codecs.ts";
import type { RunBody } from "../journal/rows.ts";
import { type Line, lineOf } from "../journal/tree.ts";
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
      const root = yield* mark(db, approval.run_id, now());
      const question = { tenant, ...(yield* runOf(db, approval.run_id)), approval };
      const rule = approval.kind === "tool_call" ? yield* rules.match(question, now())(db) : undefined;
      yield* enqueueWebhook(endpoints, webhookEventOf(tenant, approval, root))(db);
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
      const root = yield* mark(db, approval.run_id, now());
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
      yield* enqueueWebhook(endpoints, webhookEventOf(tenant, approval, root))(db);
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
          ...(root === approval.run_id ? {} : { root }),
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

/** A run that waits for a human says so to whoever lists runs, and so do those above it. Answers the root's id. */
function* mark(db: Builder, runId: string, at: number): Operation<string> {
  const line = yield* lineOf(db, runId);
  const waiting = yield* waitingIn(db, line.at(-1));
  // The root first, as everybody who locks several runs of a tree does.
  for (const { id } of line.toReversed()) {
    const isWaiting = waiting.some((one) => one === id || one.startsWith(`${id}.`)); // ids of sub-agents begin with their parent's
    yield* rows(
      db
        .updateTable("runs")
        .set({ status: isWaiting ? "waiting" : "running", updated_at: at })
        .where("id", "=", id)
        .where("status", "in", ["running", "waiting"]),
    );
  }
  return line.at(-1)?.id ?? runId;
}

/** The runs of a tree that have something to be decided. */
function* waitingIn(db: Builder, root: Line | undefined): Operation<readonly string[]> {
  if (root === undefined) return [];
  const found = yield* rows(
    db
      .selectFrom("approvals")
      .innerJoin("runs", "runs.id", "approvals.run_id")
      .select("approvals.run_id")
      .distinct()
      .where("runs.conversation_id", "=", root.conversation_id)
      .where("runs.root_run_id", "=", root.id)
      .where("approvals.state", "=", "pending"),
  );
  return found.map(({ run_id }) => run_id);
}
