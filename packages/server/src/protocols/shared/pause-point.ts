import { formatCursor, type Trackside } from "@trackside/host";
import { PauseTracker } from "./pause.ts";

/**
 * Where a run stood when it first waited for all of these calls or approvals: the end of what a client had been shown that
 * now answers them. Undefined where it never did.
 */
export async function pausePoint(
  trackside: Trackside,
  tenant: string,
  runId: string,
  ids: readonly string[],
): Promise<string | undefined> {
  const events = await trackside.runs.events(runId, { tenant, children: true });
  const tracker = new PauseTracker(runId, () => true);
  const asked = new Map<string, string>();
  const children: Record<string, { seq: number }> = {};
  let seq = 0;
  for (const event of events) {
    tracker.read(event);
    if (event.run_id === runId) seq = event.seq;
    else children[event.run_id] = { seq: event.seq };
    if (event.type === "subagent" && event.state === "completed") delete children[event.child_run_id];
    if (event.type === "approval") {
      asked.set(event.approval_id, event.approval_id);
      if (event.call_id !== null) asked.set(event.call_id, event.approval_id);
    }
    const waiting = tracker.waitingFor;
    if (waiting.length > 0 && ids.every((id) => waiting.includes(asked.get(id) ?? "")))
      return formatCursor({ seq, children });
  }
  return undefined;
}
