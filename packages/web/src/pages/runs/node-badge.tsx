import { type Status, StatusBadge } from "../../ui/status-badge.tsx";
import type { NodeState, NodeView } from "./nodes.ts";

const STATUS: Readonly<Record<Exclude<NodeState, "idle" | "skipped">, Status>> = {
  running: "Running",
  waiting: "Waiting for you",
  done: "Done",
  failed: "Failed",
  stopped: "Stopped",
};

/** The words of runs, and two for what a run has none of: a node that nothing led to, and one whose turn has not come. */
export function NodeBadge({ node: { state, reason } }: { node: Pick<NodeView, "state" | "reason"> }) {
  if (state === "idle") return <span className="px-1.5 text-xs text-muted">Not begun</span>;
  return state === "skipped" ? <Skipped reason={reason} /> : <StatusBadge status={STATUS[state]} />;
}

function Skipped({ reason }: { reason: string | undefined }) {
  return (
    <span
      title={reason}
      className="inline-flex h-5 items-center gap-1.5 rounded-sm border border-dashed border-control px-1.5 text-xs font-medium text-muted"
    >
      <svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true">
        <path d="M1.5 6h9" stroke="currentColor" strokeWidth="2" />
      </svg>
      Skipped
    </span>
  );
}
