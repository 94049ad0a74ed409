import type { DurableEvent, DurableEventOf, Failure, Json, Usage } from "trackside/schema";

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
  /** Whom it asks: the way to the inbox. */
  readonly approvalId?: string;
  readonly deadline?: number | null;
}

export type NodeRuns = ReadonlyMap<string, NodeRun>;

type Of = (event: DurableEvent) => string | undefined;

/** What the events of a workflow's run say of its nodes. Events of its children tell nothing here but who is asked. */
export function nodeRunsOf(events: readonly DurableEvent[], runId: string): NodeRuns {
  const runs = new Map<string, NodeRun>();
  const nodeOfChild = new Map<string, string>();
  const nodeOfCall = new Map<string, string>();
  const nodeOf: Of = (event) => {
    if (event.run_id !== runId) return nodeOfChild.get(event.run_id);
    return event.type === "approval" && event.call_id !== null ? nodeOfCall.get(event.call_id) : undefined;
  };
  for (const event of events) {
    if (event.type === "node" && event.run_id === runId) {
      if (event.child_run_id !== undefined) nodeOfChild.set(event.child_run_id, event.node);
      if (event.call_id !== undefined) nodeOfCall.set(event.call_id, event.node);
      runs.set(event.node, afterNode(runs.get(event.node), event));
    } else if (event.type === "approval") {
      const node = nodeOf(event) ?? waitingNode(event);
      const before = node === undefined ? undefined : runs.get(node);
      if (node !== undefined && before !== undefined) runs.set(node, afterApproval(before, event));
    } else if (event.type === "status" && event.run_id === runId && ENDS.has(event.status)) {
      for (const [node, run] of runs)
        if (run.ended === null) runs.set(node, { ...run, state: "stopped", ended: event.at, retryAt: null });
    }
  }
  return runs;
}

const ENDS: ReadonlySet<string> = new Set(["completed", "error", "cancelled"]);

/** Its events stand under the node: `["…", "<node>"]`. */
function waitingNode({ kind, path }: DurableEventOf<"approval">): string | undefined {
  return kind === "workflow_node" ? path.at(-1) : undefined;
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
