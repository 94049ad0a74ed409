import {
  type ApprovalRecord,
  type ApprovalRule,
  allows,
  type DecideInput,
  type RunRecord,
} from "@trackside/host";
import type { Approval, DurableEvent } from "trackside";
import type { Answer } from "../contract/index.ts";
import type { Context, Handlers } from "../http/handler.ts";
import { pageOf, whole } from "../http/page.ts";
import { tenantOf } from "../http/scope.ts";
import { eventStream } from "../http/sse.ts";
import { consequencesOf } from "./consequences.ts";
import { recordOf } from "./runs.ts";

/** How much of what led to a question is shown beside it. */
const EVIDENCE = 30;
const SIBLINGS = 200;

export const approvalHandlers = {
  async listApprovals({ query: { state, run, tree, after, limit } }, context) {
    const found = await context.trackside.approvals.list({
      ...tenantOf(context),
      state,
      limit,
      newestFirst: state !== "pending",
      ...(run === undefined ? {} : { runId: run }),
      ...(tree === undefined ? {} : { rootRunId: tree }),
      ...(after === undefined ? {} : { after }),
    });
    return pageOf(
      found.map((one) => rowOf(one, context)),
      limit,
      ({ id }) => id,
    );
  },

  async streamApprovals(_input, context) {
    const { approvals } = context.trackside;
    return eventStream(context, {
      events: async function* (last, signal) {
        const seen = Number(last ?? Number.NaN);
        const after = Number.isSafeInteger(seen) ? seen : undefined;
        const changes = approvals.changes({ ...tenantOf(context), after, signal });
        for await (const { approvals: changed, cursor, complete } of changes)
          yield {
            id: String(cursor),
            event: "inbox",
            data: { items: changed.map((one) => rowOf(one, context)), complete },
          };
      },
    });
  },

  async getApproval({ params: { id } }, context) {
    const { approvals, runs } = context.trackside;
    const scope = tenantOf(context);
    const approval = await approvals.get(id, scope);
    const run = await runs.get(approval.run_id, scope);
    const [events, all] = await Promise.all([
      runs.events(approval.run_id, scope),
      approvals.list({ ...scope, state: "all", rootRunId: run.root_run_id, limit: SIBLINGS }),
    ]);
    return {
      ...rowOf(ofRun(approval, run), context),
      run: recordOf(run),
      tool_description: toolDescription(context, approval),
      context: [...before(events, id)],
      siblings: all.filter((one) => one.id !== id).map(copyOf),
      consequences: consequencesOf(approval),
    };
  },

  async decideApproval({ params: { id }, body }, context) {
    const { approvals, runs } = context.trackside;
    const { user } = context.credential;
    const decided = await approvals.decide(
      id,
      { ...decisionOf(body, context), by: user.name },
      tenantOf(context),
    );
    return copyOf(ofRun(decided, await runs.get(decided.run_id, tenantOf(context))));
  },

  async listRules({ query: { revoked = false } }, context) {
    const found = await context.trackside.approvals.rules({ ...tenantOf(context), revoked });
    return whole(found.map(ruleOf));
  },

  async revokeRule({ params: { id }, body }, context) {
    const by = context.credential.user.name;
    const why = body.reason === undefined ? {} : { reason: body.reason };
    return ruleOf(await context.trackside.approvals.revokeRule(id, { ...tenantOf(context), by, ...why }));
  },
} satisfies Partial<Handlers>;

type Decided = Parameters<(typeof approvalHandlers)["decideApproval"]>[0]["body"];

function decisionOf(body: Decided, { requestId }: Context): Omit<DecideInput, "by"> {
  const { choice, reason, response, edited_arguments, remember } = body;
  return {
    choice,
    ...(reason === undefined ? {} : { reason }),
    ...(response === undefined ? {} : { response }),
    ...(edited_arguments === undefined ? {} : { editedArguments: edited_arguments }),
    ...(requestId === undefined ? {} : { requestId }),
    ...(remember === undefined ? {} : { remember: rememberOf(remember) }),
  };
}

function rememberOf({ until, match, scope_keys }: NonNullable<Decided["remember"]>) {
  return {
    ...(until === undefined ? {} : { until }),
    ...(match === undefined ? {} : { match }),
    ...(scope_keys === undefined ? {} : { scopeKeys: scope_keys }),
  };
}

function ofRun(approval: Approval, { root_run_id, scope: { user } }: RunRecord): ApprovalRecord {
  return { ...approval, root_run_id, requested_by: typeof user === "string" ? user : null };
}

/** Approvals are read-only; what is answered need not be. */
function copyOf(approval: ApprovalRecord): Answer<"decideApproval"> {
  return { ...approval, reasons: [...approval.reasons], choices: [...approval.choices] };
}

function rowOf(approval: ApprovalRecord, context: Context): Answer<"listApprovals">["items"][number] {
  return {
    ...copyOf(approval),
    ...webhookOf(approval, context),
    agent: approval.requester,
    irreversible: approval.irreversible === true,
  };
}

/** Where a node that waits is sent what it waits for: whoever knows it may, so it is for those who might decide anyway. */
function webhookOf(
  approval: ApprovalRecord,
  { trackside, credential, publicUrl }: Context,
): { webhook_url?: string } {
  if (approval.state !== "pending" || !allows(credential.role, "decide")) return {};
  const token = trackside.workflows.waits.tokenOf(approval);
  if (token === undefined) return {};
  const address = new URL(`/api/v1/waits/${encodeURIComponent(approval.id)}`, publicUrl);
  address.searchParams.set("token", token);
  return { webhook_url: address.href };
}

/** What was said and done before the question, the last of it. */
function before(events: readonly DurableEvent[], id: string): readonly DurableEvent[] {
  const asked = events.findIndex((event) => event.type === "approval" && event.approval_id === id);
  const until = asked === -1 ? events.length : asked;
  return events.slice(Math.max(0, until - EVIDENCE), until);
}

function toolDescription({ trackside }: Context, { tool, requester }: Approval): string | null {
  const agent = trackside.engine.registry.get(requester);
  const known = agent?.tools ?? trackside.toolkit.tools;
  return known.find(({ name }) => name === tool)?.description ?? null;
}

function ruleOf(rule: ApprovalRule): Answer<"revokeRule"> {
  const { id, tool, agent, effect, match, until, created_at, created_by, reason, revoked } = rule;
  return {
    id,
    tool,
    match: match.kind,
    effect,
    agent,
    by: created_by,
    reason: reason === "" ? null : reason,
    created_at,
    until,
    revoked_at: revoked?.at ?? null,
    text: sentenceOf(rule),
  };
}

/** A rule in words: what it decides, for whom, until when. */
function sentenceOf({ tool, agent, effect, match, scope, until }: ApprovalRule): string {
  const what =
    match.kind === "tool" ? `every call of ${tool}` : `calls of ${tool} with exactly these arguments`;
  const whose = agent === null ? "of any agent" : `of ${agent}`;
  const keys = Object.entries(scope).map(([key, value]) => `${key} ${JSON.stringify(value)}`);
  const where = keys.length === 0 ? "" : `, for ${keys.join(" and ")}`;
  const when = until === null ? "until it is revoked" : `until ${new Date(until).toISOString()}`;
  return `${effect === "approve" ? "Approves" : "Rejects"} ${what} ${whose}${where}, ${when}.`;
}
