import type { Approval } from "trackside";
import * as z from "zod";
import { versioned } from "../store/rows/versioned.ts";
import { changed, type Work } from "../store/store.ts";
import { type WebhookEndpoint, wants } from "./endpoint.ts";

const event = z.object({
  /** The same for every attempt and however often it is queued: receivers drop what they have seen. */
  id: z.string(),
  type: z.enum(["approval.requested", "approval.decided"]),
  tenant: z.string(),
  /** Unix ms. */
  at: z.number(),
  approval: z.object({
    id: z.string(),
    run_id: z.string(),
    /** Where a sub-agent asks: the run it belongs to (L7). */
    root_run_id: z.string().optional(),
    kind: z.string(),
    tool: z.string().nullable(),
    state: z.string(),
    requested_at: z.number(),
    deadline: z.number().nullable(),
    decided_at: z.number().nullable(),
    decided_by: z.string().nullable(),
  }),
});

/**
 * What a receiver is told: that something happened and to which record, and nothing that a user or a model wrote. Whoever
 * may see more asks for the record; so a webhook that waits keeps no content of a conversation that is deleted (X12).
 */
export type WebhookEvent = z.infer<typeof event>;

const version1 = z.object({
  v: z.literal(1),
  /** The endpoint's name; its address may hold a token. */
  endpoint: z.string(),
  event,
  /** What came of the last attempt, for people. */
  last: z.string().nullable(),
});
export type WebhookBody = z.infer<typeof version1>;

/** Bodies of queued webhooks. */
export const webhookBody = versioned({
  name: "webhooks",
  current: 1,
  versions: { 1: version1 },
  upgrade: {},
});

/** The event of an approval as it now is: requested while it is pending, decided once it is not. */
export function webhookEventOf(
  tenant: string,
  approval: Approval,
  rootRunId: string = approval.run_id,
): WebhookEvent {
  const { id, run_id, kind, tool, state, requested_at, deadline, decision } = approval;
  const pending = state === "pending";
  return {
    id: `${id}.${pending ? "requested" : "decided"}`,
    type: pending ? "approval.requested" : "approval.decided",
    tenant,
    at: pending ? requested_at : (decision?.at ?? requested_at),
    approval: {
      id,
      run_id,
      ...(rootRunId === run_id ? {} : { root_run_id: rootRunId }),
      kind,
      tool,
      state,
      requested_at,
      deadline,
      decided_at: decision?.at ?? null,
      decided_by: decision?.by ?? null,
    },
  };
}

/**
 * Queues an event for every endpoint that wants it, in the transaction in which it happens: if that lands, the webhook will
 * be sent. Queued twice it is still one.
 */
export function enqueueWebhook(endpoints: readonly WebhookEndpoint[], event: WebhookEvent): Work<void> {
  return function* (db) {
    const waiting = endpoints
      .filter((endpoint) => wants(endpoint, event))
      .map(({ name }) => ({
        id: `${event.id}@${name}`,
        tenant: event.tenant,
        state: "waiting",
        attempts: 0,
        next_at: event.at,
        created_at: event.at,
        body: webhookBody.write({ v: 1, endpoint: name, event, last: null }),
      }));
    if (waiting.length === 0) return;
    yield* changed(
      db
        .insertInto("webhooks")
        .values(waiting)
        .onConflict((on) => on.column("id").doNothing()),
    );
  };
}

/** Removes rows that are through, delivered or given up, if they were queued before this time. */
export function pruneWebhooks(before: number): Work<number> {
  return function* (db) {
    return yield* changed(
      db.deleteFrom("webhooks").where("state", "!=", "waiting").where("created_at", "<", before),
    );
  };
}
