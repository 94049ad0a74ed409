import type { ReactNode } from "react";
import { RunStatusBadge } from "../../ui/run-status.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import type { Plan, Step } from "./types.ts";

/** What a step is: one of the six badges where it is under way or over, else a quiet word with a shape. */
export function StepBadge({ step }: { step: Step }) {
  const { state, run_status, phase, stopping } = step;
  switch (state) {
    case "running":
      if (stopping) return <StatusBadge status="Stopped" title="Its run is being stopped" />;
      if (run_status === "waiting" || run_status === "parked") return <RunStatusBadge status={run_status} />;
      return (
        <StatusBadge status="Running" title={phase === "verify" ? "It is being verified" : "Under way"} />
      );
    case "completed":
      return <StatusBadge status="Done" />;
    case "failed":
      return <StatusBadge status="Failed" />;
    case "skipped":
      return (
        <Quiet title="Left out: those after it may run">
          <path d="M1.5 2.5 6 6l-4.5 3.5zM6.5 2.5 11 6 6.5 9.5z" fill="currentColor" />
          Skipped
        </Quiet>
      );
    default:
      return (
        <Quiet title="Not begun">
          <circle cx="6" cy="6" r="4" fill="none" stroke="currentColor" strokeWidth="1.5" />
          Pending
        </Quiet>
      );
  }
}

export function PlanBadge({ state }: { state: Plan["state"] }) {
  if (state === "completed") return <StatusBadge status="Done" title="Every step is done or skipped" />;
  if (state === "failed")
    return <StatusBadge status="Failed" title="A step failed, and nothing is left to run" />;
  return state === "active" ? (
    <Quiet title="The plan that is worked on">
      <circle cx="6" cy="6" r="3.5" fill="currentColor" />
      Active
    </Quiet>
  ) : (
    <Quiet title="A later version took its place">
      <path d="M2 6h8M7 3l3 3-3 3" fill="none" stroke="currentColor" strokeWidth="1.5" />
      Superseded
    </Quiet>
  );
}

function Quiet({ title, children }: { title: string; children: [shape: ReactNode, word: string] }) {
  const [shape, word] = children;
  return (
    <span
      title={title}
      className="inline-flex h-5 items-center gap-1.5 rounded-sm border border-line px-1.5 text-xs font-medium whitespace-nowrap text-muted"
    >
      <svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true" className="shrink-0">
        {shape}
      </svg>
      {word}
    </span>
  );
}
