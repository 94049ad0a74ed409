import type { DurableEvent, DurableEventOf, Failure, Json, JsonObject, Usage } from "trackside/schema";

export type NodeState = "running" | "waiting" | "done" | "failed" | "skipped" | "stopped";

/** What became of a node in one run. */
export interface NodeRun {
  readonly state: NodeState;
  readonly started: number;
  readonly ended: number | null;
  readonly attempt: number;
  /** When the next try begins, after one that failed. */
  readonly retryAt: number | null;
  readonly output?: Json;
  readonly failure?: Failure;
  readonly reason?: string;
  readonly port?: "true" | "false" | "rejected" | "failed";
  readonly childRunId?: string;
  readonly items?: number;
  readonly itemsFailed?: number;
  readonly usage?: Usage;
  /** What its tool was called with. */
  readonly given?: JsonObject | null;
  /** Whom it asks: the way to the inbox. */
  readonly approvalId?: string;
  readonly deadline?: number | null;
}

export type NodeRuns = ReadonlyMap<string, NodeRun>;

/** What the events of a workflow's run say of its nodes. Events of its children tell nothing here but who is asked. */
export function nodeRunsOf(events: readonly DurableEvent[], runId: string): NodeRuns {
  const runs = new Map<string, NodeRun>();
  const change = (node: string | undefined, next: (before: NodeRun) => NodeRun) => {
    const before = node === undefined ? undefined : runs.get(node);
    if (node !== undefined && before !== undefined) runs.set(node, next(before));
  };
  for (const event of events) {
    const isOwn = event.run_id === runId;
    if (event.type === "approval")
      change(isOwn ? nodeOfCall(event.call_id, runId) : event.path[0]?.replace(/\[.*$/s, ""), (before) =>
        afterApproval(before, event),
      );
    else if (!isOwn) continue;
    else if (event.type === "node") runs.set(event.node, afterNode(runs.get(event.node), event));
    else if (event.type === "tool_call")
      change(nodeOfCall(event.call_id, runId), (before) => ({ ...before, given: event.arguments }));
    else if (event.type === "subagent")
      change(event.call_id, (before) => ({ ...before, childRunId: event.child_run_id }));
    else if (event.type === "status" && ENDS.has(event.status))
      for (const [node, run] of runs)
        if (run.ended === null) runs.set(node, { ...run, state: "stopped", ended: event.at, retryAt: null });
  }
  return runs;
}

const ENDS: ReadonlySet<string> = new Set(["completed", "error", "cancelled"]);

/** Calls are called after the run and the node they are made in; a question of the node itself after the node alone. */
function nodeOfCall(call: string | null, runId: string): string | undefined {
  if (call === null) return undefined;
  return call.startsWith(`${runId}.`) ? call.slice(runId.length + 1).split(".")[0] : call;
}

function afterNode(before: NodeRun | undefined, event: DurableEventOf<"node">): NodeRun {
  const { state, at, attempt = before?.attempt ?? 1 } = event;
  const told = {
    ...(event.output !== undefined && { output: event.output }),
    ...(event.failure !== undefined && { failure: event.failure }),
    ...(event.reason !== undefined && { reason: event.reason }),
    ...(event.port !== undefined && { port: event.port }),
    ...(event.child_run_id !== undefined && { childRunId: event.child_run_id }),
    ...(event.items !== undefined && { items: event.items }),
    ...(event.items_failed !== undefined && { itemsFailed: event.items_failed }),
    ...(event.usage !== undefined && { usage: event.usage }),
  };
  switch (state) {
    case "started":
      return {
        ...(before?.usage && { usage: before.usage }),
        ...told,
        state: "running",
        started: before?.started ?? at,
        ended: null,
        attempt,
        retryAt: null,
      };
    case "retrying":
      return {
        ...(before ?? { started: at }),
        ...told,
        state: "running",
        ended: null,
        attempt,
        retryAt: at + (event.retry_in_ms ?? 0),
      };
    case "completed":
    case "failed":
    case "skipped":
      return {
        ...(before ?? { started: at }),
        ...told,
        state: state === "completed" ? "done" : state,
        ended: at,
        attempt,
        retryAt: null,
      };
  }
}

function afterApproval(before: NodeRun, event: DurableEventOf<"approval">): NodeRun {
  if (before.ended !== null) return before;
  if (event.state === "pending")
    return { ...before, state: "waiting", approvalId: event.approval_id, deadline: event.deadline };
  // Somebody decided this one; another may still be open, which its own event says.
  return before.approvalId === event.approval_id ? { ...before, state: "running" } : before;
}
