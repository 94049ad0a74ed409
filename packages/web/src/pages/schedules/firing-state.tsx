import { Link } from "@tanstack/react-router";
import { RunStatusBadge } from "../../ui/run-status.tsx";
import { StatusBadge, Tag } from "../../ui/status-badge.tsx";
import type { Firing, Schedule } from "./schedule.ts";

/** What became of a firing: how its run is, or why there is none. */
export function FiringState({ firing, target }: { firing: Firing; target: Schedule["target"] }) {
  const { state, run_id, run_status, reason } = firing;
  if (run_id !== null)
    return (
      <Link
        to="/runs/$id"
        params={{ id: run_id }}
        className="inline-flex items-center hover:underline"
        title={`Open run ${run_id}`}
      >
        {run_status === null ? <Tag>run deleted</Tag> : <RunStatusBadge status={run_status} />}
      </Link>
    );
  if (state === "failed") return <StatusBadge status="Failed" title={reason ?? "It could not be started"} />;
  if (state === "starting") return <StatusBadge status="Running" title={reason ?? "It is being started"} />;
  if (state === "started")
    return (
      <Link
        to="/agents/$name/plan"
        params={{ name: target.name }}
        className="inline-flex items-center hover:underline"
        title={`Open the plan of ${target.name}: its steps are runs`}
      >
        <Tag>plan started</Tag>
      </Link>
    );
  return <Tag title={reason ?? ""}>{state}</Tag>;
}
