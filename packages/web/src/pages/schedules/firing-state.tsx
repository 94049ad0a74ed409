import { Link } from "@tanstack/react-router";
import { RunStatusBadge } from "../../ui/run-status.tsx";
import { StatusBadge, Tag } from "../../ui/status-badge.tsx";
import type { Firing } from "./schedule.ts";

/** What became of a firing: how its run is, or why there is none. */
export function FiringState({ firing }: { firing: Firing }) {
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
  if (state === "started") return <Tag title="Its steps are runs of the agent">plan started</Tag>;
  return <Tag title={reason ?? ""}>{state}</Tag>;
}
