import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Approval } from "trackside";
import { onTestFinished } from "vitest";
import { rows, type Store } from "../../src/store/store.ts";
import type { WebhooksTable } from "../../src/store/tables.ts";
import { type WebhookEvent, webhookEventOf } from "../../src/webhooks/index.ts";

export interface Received {
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  readonly method: string | undefined;
}

/** A receiver on a port of its own; `answer` says what it does with the n-th request, counted from 1. */
export async function receiver(
  answer: (response: ServerResponse, n: number) => void = (response) => response.end(),
): Promise<{ url: string; received: Received[] }> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      received.push({
        headers: request.headers,
        body: Buffer.concat(chunks).toString("utf8"),
        method: request.method,
      });
      answer(response, received.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  );
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return { url: `http://127.0.0.1:${port}/hook?token=hidden`, received };
}

export function approval(id: string, given: Partial<Approval> = {}): Approval {
  return {
    id,
    kind: "tool_call",
    run_id: "run_1",
    call_id: "run_1..1.0",
    tool: "send_mail",
    arguments: { body: "private words" },
    injected_args: {},
    digest: "d".repeat(64),
    reasons: ["private reason"],
    requester: "agent",
    choices: ["approve", "reject"],
    response_schema: null,
    state: "pending",
    requested_at: 1000,
    deadline: null,
    decision: null,
    ...given,
  };
}

export function requested(id: string, tenant = "a"): WebhookEvent {
  return webhookEventOf(tenant, approval(id));
}

export function allWebhooks(store: Store): Promise<readonly WebhooksTable[]> {
  return store.read(function* (db) {
    return yield* rows(db.selectFrom("webhooks").selectAll().orderBy("id"));
  });
}

/** A clock whose time a test sets; its timers are real. */
export function settableClock(start = 1_700_000_000_000) {
  const clock = {
    time: start,
    now: () => clock.time,
    random: () => 0.5,
    after(ms: number, run: () => void) {
      const timer = setTimeout(run, ms);
      return { stop: () => clearTimeout(timer), hold: () => {} };
    },
  };
  return clock;
}
