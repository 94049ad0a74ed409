import { Link } from "@tanstack/react-router";
import { formatShort } from "../../format/number.ts";
import { type Status, StatusBadge } from "../../ui/status-badge.tsx";
import { Duration } from "../../ui/time.tsx";
import { ItemView } from "./item-view.tsx";
import type { CallItem, Lane } from "./items.ts";
import { isOver, type RunView, type Tree } from "./transcript.ts";
import { useStick } from "./use-stick.ts";

/** Sub-agents side by side, each with what it says and does. */
export function Lanes({ call, tree }: { call: CallItem; tree: Tree }) {
  const jobs = call.arguments?.["jobs"];
  return (
    <ol className="grid gap-px border-t border-line bg-line sm:grid-cols-[repeat(auto-fit,minmax(15rem,1fr))]">
      {call.lanes.map((lane) => (
        <LaneView
          key={lane.runId}
          lane={lane}
          task={taskOf(Array.isArray(jobs) ? jobs[lane.index] : call.arguments)}
          run={tree.runs.get(lane.runId)}
          tree={tree}
        />
      ))}
    </ol>
  );
}

function LaneView({
  lane,
  task,
  run,
  tree,
}: {
  lane: Lane;
  task: string;
  run: RunView | undefined;
  tree: Tree;
}) {
  const { frame, content, onScroll } = useStick(lane.runId);
  return (
    <li className="flex min-w-0 flex-col bg-canvas">
      <div className="flex items-start justify-between gap-2 px-3 pt-2">
        <p className="min-w-0 text-sm break-words">
          <span className="text-faint">{lane.index + 1} </span>
          {task}
        </p>
        <StatusBadge status={laneStatus(lane, run)} />
      </div>
      <p className="flex flex-wrap gap-x-3 px-3 text-xs text-faint">
        {run?.startedAt && (
          <span>
            {run.endedAt ? <Duration ms={run.endedAt - run.startedAt} /> : <Duration since={run.startedAt} />}
          </span>
        )}
        {run?.usage && <span>{formatShort(run.usage.input_tokens + run.usage.output_tokens)} tokens</span>}
        <Link
          to="/runs/$id"
          params={{ id: lane.runId }}
          className="rounded-sm underline underline-offset-2 hover:text-ink"
        >
          Open run
        </Link>
      </p>
      <div
        ref={frame}
        onScroll={onScroll}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable with the keyboard
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label={`What sub-agent ${lane.index + 1} says and does`}
        className="max-h-96 overflow-y-auto px-3 py-2 text-sm -outline-offset-2"
      >
        <div ref={content} className="flex flex-col gap-2">
          {run &&
            [...run.items, ...run.live].map((item) => (
              <ItemView key={item.key} item={item} isOver={isOver(run)} tree={tree} />
            ))}
          {run?.failure && <p className="break-words text-red">{run.failure.message}</p>}
        </div>
      </div>
    </li>
  );
}

function laneStatus({ outcome }: Lane, run: RunView | undefined): Status {
  if (run?.state === "cancelled") return "Stopped";
  if (outcome === "error" || run?.state === "error") return "Failed";
  if (outcome === "success" || run?.state === "completed") return "Done";
  if (run?.state === "parked") return "Parked";
  return run?.state === "waiting" ? "Waiting for you" : "Running";
}

function taskOf(job: unknown): string {
  if (typeof job === "object" && job !== null && "task" in job && typeof job.task === "string")
    return job.task;
  return "Sub-agent";
}
