import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { client } from "../../api.ts";
import { Button } from "../../ui/button.tsx";
import { StopIcon, WarningIcon } from "../../ui/icons.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { type Board, boardKey } from "./types.ts";

/** A plan that is being made, or could not be. */
export function GenerationNote({
  board: { generation, agent },
  mayRetry,
  onRetry,
}: {
  board: Board;
  mayRetry: boolean;
  onRetry(): void;
}) {
  const [seen, setSeen] = useState<string>();
  const queryClient = useQueryClient();
  const stop = useMutation({
    mutationFn: (id: string) => client.cancelRun({ params: { id }, body: {} }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: boardKey(agent) }),
  });
  if (generation === null || generation.state === "completed" || generation.id === seen) return null;
  const { run_id, run_status, state, by, at, reason, id } = generation;
  const link = run_id && (
    <Link to="/runs/$id" params={{ id: run_id }} className="text-accent underline">
      Its run
    </Link>
  );
  if (state === "failed")
    return (
      <div
        role="alert"
        className="mb-4 flex flex-wrap items-center gap-x-3 gap-y-1 rounded-md border border-red bg-red-soft px-3 py-2"
      >
        <WarningIcon className="text-red" />
        <span className="min-w-0 flex-1 break-words">No plan was generated: {reason}</span>
        {link}
        {mayRetry && (
          <Button size="small" onClick={onRetry}>
            Try again
          </Button>
        )}
        <Button size="small" kind="quiet" onClick={() => setSeen(id)}>
          Dismiss
        </Button>
      </div>
    );
  return (
    <div
      role="status"
      className="mb-4 flex flex-wrap items-center gap-x-3 gap-y-1 rounded-md border border-line bg-panel px-3 py-2"
    >
      <StatusBadge status={run_status === "waiting" ? "Waiting for you" : "Running"} />
      <span className="min-w-0 flex-1 break-words">
        A plan is being generated, asked for by {by} <Time at={at} className="min-w-0!" />
      </span>
      {link}
      {run_id && mayRetry && (
        <Button size="small" icon={StopIcon} pending={stop.isPending} onClick={() => stop.mutate(run_id)}>
          Stop
        </Button>
      )}
    </div>
  );
}
