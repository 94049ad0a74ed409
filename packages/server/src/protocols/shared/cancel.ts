import type { ProtocolContext } from "../env.ts";
import { mayStart } from "./access.ts";

/** For when whoever asked has gone, and nobody else will read the answer. */
export function cancelFor(c: ProtocolContext, runId: string): () => void {
  const credential = c.get("credential");
  const { tenant, user } = credential;
  return () => {
    if (!mayStart(credential)) return;
    const reason = `the client of ${user.id} has gone`;
    c.get("trackside")
      .runs.cancel(runId, { tenant, reason })
      .catch(() => {}); // it ended in this moment
  };
}
