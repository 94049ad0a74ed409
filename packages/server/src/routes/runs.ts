import { parseCursor, type RunRecord, type SentRequest } from "@trackside/host";
import type { UserMessage } from "trackside";
import type { Answer } from "../contract/index.ts";
import type { Context, Handlers } from "../http/handler.ts";
import { pageOf, whole } from "../http/page.ts";
import { scopeOf, tenantOf } from "../http/scope.ts";
import { eventStream } from "../http/sse.ts";
import { receiptOf, startedOf, startOptions } from "./starting.ts";

const MOST_CHILDREN = 1_000;

export const runHandlers = {
  async listRuns({ query }, context) {
    const { after, limit, status, ...filter } = query;
    const found = await context.trackside.runs.list({
      ...filter,
      ...tenantOf(context),
      limit,
      ...(status === undefined ? {} : { status }),
      ...(after === undefined ? {} : { before: after }),
    });
    return pageOf(found.map(recordOf), limit, ({ id }) => id);
  },

  async startRun({ body }, context) {
    const { agent, input, conversation, scope, ...rest } = body;
    const started = await context.trackside.start(agent, input, {
      ...startOptions(rest, context),
      scope: scopeOf(context, scope),
      ...(conversation === undefined ? {} : { conversation }),
    });
    return startedOf(started);
  },

  async getRun({ params: { id } }, context) {
    const { runs, approvals } = context.trackside;
    const scope = tenantOf(context);
    const record = await runs.get(id, scope);
    const [children, pending, opening] = await Promise.all([
      runs.list({ ...scope, parent: id, limit: MOST_CHILDREN }),
      approvals.list({ ...scope, rootRunId: record.root_run_id, limit: MOST_CHILDREN }),
      runs.opening(id, scope),
    ]);
    return {
      ...recordOf(record),
      definition: opening.definition,
      input: textOf(opening.message),
      recoveries: opening.recoveries,
      pending_approvals: pending.map((one) => one.id),
      sub_agents: children.map(recordOf),
    };
  },

  async listEvents({ params: { id }, query: { after, children = false, limit } }, context) {
    const found = await context.trackside.runs.events(id, { ...tenantOf(context), after, children });
    if (found.length <= limit) return { items: [...found], next: null };
    // A page ends with an event of the run itself: that is what the next one goes on from.
    const within = found.findLastIndex((event, i) => i < limit && event.run_id === id);
    const last = within >= 0 ? within : found.findIndex((event) => event.run_id === id);
    if (last < 0) return { items: [...found], next: null };
    const items = found.slice(0, last + 1);
    return { items, next: items.at(-1)?.seq ?? null };
  },

  async streamRun({ params: { id }, query }, context) {
    const { runs } = context.trackside;
    const scope = tenantOf(context);
    const { ended_at } = await runs.get(id, scope); // a run that is not there is a problem, not an empty stream
    const seen = context.request.headers.get("last-event-id");
    // Browsers come back for ever, unless they are told that there is nothing more.
    if (ended_at !== null && seen && (await nothingAfter(seen, id, context)))
      return new Response(null, { status: 204 });
    return eventStream(context, {
      after: query.after,
      events: async function* (after, signal) {
        const from = after === undefined ? {} : { after };
        for await (const { event, cursor } of runs.follow(id, { ...scope, ...from, signal }))
          yield { id: cursor, event: event.type, data: event };
      },
    });
  },

  async listRequests({ params: { id }, query: { step } }, context) {
    const asked = step === undefined ? {} : { step };
    const found = await context.trackside.runs.requests(id, { ...tenantOf(context), ...asked });
    return whole(found.map(requestOf));
  },

  async cancelRun({ params: { id }, body }, context) {
    const reason = body.reason ?? `cancelled by ${context.credential.user.name}`;
    return recordOf(await context.trackside.runs.cancel(id, { ...tenantOf(context), reason }));
  },

  async steerRun({ params: { id }, body }, context) {
    return receiptOf(await context.trackside.steer(id, body.input, sending(context)));
  },

  async injectNote({ params: { id }, body }, context) {
    return receiptOf(await context.trackside.inject(id, body.input, sending(context)));
  },

  async resumeRun({ params: { id } }, context) {
    return recordOf(await context.trackside.runs.resume(id, tenantOf(context)));
  },

  async retryRun({ params: { id }, body }, context) {
    const { from_step, node } = body;
    const from = {
      ...(from_step === undefined ? {} : { fromStep: from_step }),
      ...(node === undefined ? {} : { node }),
    };
    return recordOf(await context.trackside.runs.retry(id, { ...tenantOf(context), ...from }));
  },

  async exportRun({ params: { id } }, context) {
    return context.trackside.runs.export(id, tenantOf(context));
  },
} satisfies Partial<Handlers>;

/** Answered once it is sure to arrive: a run that waits for a human may take days to hear of it. */
async function nothingAfter(cursor: string, id: string, context: Context): Promise<boolean> {
  let after: number;
  try {
    after = parseCursor(cursor).seq;
  } catch {
    return false; // the stream tells what is wrong with it
  }
  return (await context.trackside.runs.events(id, { ...tenantOf(context), after })).length === 0;
}

function sending(context: Context) {
  const { requestId } = context;
  return { ...tenantOf(context), wait: false, ...(requestId === undefined ? {} : { requestId }) };
}

/** A run's record is frozen; what is answered need not be. */
export function recordOf(record: RunRecord): Answer<"resumeRun"> {
  return { ...record };
}

function requestOf({ path, tools, messages, missing = [], ...request }: SentRequest) {
  return {
    ...request,
    path: [...path],
    tools: [...tools],
    messages: messages.map(({ role, content }) => ({ role, content: [...content] })),
    missing: [...missing],
  };
}

/** What the user said, as text. */
function textOf({ parts }: UserMessage): string {
  return parts.map((part) => (part.type === "text" ? part.text : `[${part.media_type}]`)).join("\n");
}
