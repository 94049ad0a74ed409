import { formatDuration } from "../../../format/duration.ts";
import { formatMoney } from "../../../format/number.ts";
import { type Status, StatusBadge } from "../../../ui/status-badge.tsx";
import { Duration } from "../../../ui/time.tsx";
import type { NodeRun, NodeState } from "../run/node-run.ts";

const STATUS: Readonly<Record<Exclude<NodeState, "skipped">, Status>> = {
  running: "Running",
  waiting: "Waiting for you",
  done: "Done",
  failed: "Failed",
  stopped: "Stopped",
};

/** The words of runs; and one more, for what was never begun because the run went another way. */
export function NodeStateBadge({ run }: { run: NodeRun }) {
  if (run.state !== "skipped") return <StatusBadge status={STATUS[run.state]} />;
  return (
    <span
      title={run.reason}
      className="inline-flex h-5 items-center gap-1.5 rounded-sm border border-dashed border-control px-1.5 text-xs font-medium text-muted"
    >
      <svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true">
        <path d="M1.5 6h9" stroke="currentColor" strokeWidth="2" />
      </svg>
      Skipped
    </span>
  );
}

/** How long it took or takes, and what it cost as far as that is known. */
export function TimeAndCost({ run }: { run: NodeRun }) {
  if (run.state === "skipped") return null;
  const cost = run.usage?.cost ?? null;
  return (
    <span className="flex shrink-0 items-center gap-2 whitespace-nowrap tabular-nums">
      {run.ended === null ? <Duration since={run.started} /> : formatDuration(run.ended - run.started)}
      {cost !== null && cost > 0 && <span>{formatMoney(cost)}</span>}
      {run.attempt > 1 && <span>try {run.attempt}</span>}
    </span>
  );
}
