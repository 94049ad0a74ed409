import type { StartedTurn, StartOptions } from "@trackside/host";
import type { Receipt } from "trackside";
import type { Context } from "../http/handler.ts";

/** How a turn is to be started, as a request says it. */
export function startOptions(
  asked: { readonly when_busy?: StartOptions["whenBusy"] | undefined; readonly queue?: boolean | undefined },
  { requestId }: Context,
): Pick<StartOptions, "whenBusy" | "queue" | "requestId" | "wait"> {
  return {
    wait: false,
    ...(asked.when_busy === undefined ? {} : { whenBusy: asked.when_busy }),
    ...(asked.queue === undefined ? {} : { queue: asked.queue }),
    ...(requestId === undefined ? {} : { requestId }),
  };
}

/** It goes on by itself: who wants to know how it ends reads its events. */
export function startedOf({ runId, conversationId, receipt, result }: StartedTurn) {
  result().catch(() => {}); // a run that fails is no failure of the request that started it
  return {
    run_id: runId,
    conversation_id: conversationId,
    receipt: receipt === undefined ? null : receiptOf(receipt),
  };
}

export function receiptOf({ id, state, runId, at }: Receipt) {
  return { id, state, run_id: runId, at };
}
