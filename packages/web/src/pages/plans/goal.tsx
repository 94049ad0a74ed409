import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { plural } from "../../format/number.ts";
import { ProgressBar } from "../../ui/meter.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { PlanBadge } from "./badges.tsx";
import type { Board, Plan } from "./types.ts";

const LONG = 200;

/** The goal, how far it is, and who works on it. */
export function Goal({ board, plan }: { board: Board; plan: Plan }) {
  const done = plan.steps.filter(({ state }) => state === "completed" || state === "skipped").length;
  const total = plan.steps.length;
  return (
    <section
      aria-label="Goal"
      className="flex flex-col gap-2 rounded-md border border-line bg-panel px-4 py-3"
    >
      {/* A long one scrolls in place, so that the steps stay in sight; then it is reached with the keyboard, too. */}
      <div
        {...(plan.goal.length > LONG && { tabIndex: 0, role: "group", "aria-label": "The whole goal" })}
        className="max-h-36 overflow-y-auto"
      >
        <p className="measure text-lg font-semibold break-words whitespace-pre-wrap">{plan.goal}</p>
      </div>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-muted">
        <PlanBadge state={plan.state} />
        <WorkLine board={board} />
      </div>
      <div className="flex items-center gap-3">
        <ProgressBar label="Steps that are done" value={done} total={total || 1} />
        <span className="shrink-0 text-sm text-muted tabular-nums">
          {done} of {plural(total, "step")} done
        </span>
      </div>
      <p className="text-xs text-muted">
        {plan.origin === "generated" ? "Generated for" : "Saved by"} {plan.updated_by}{" "}
        <Time at={plan.updated_at} className="min-w-0!" />
        {plan.note && `: ${plan.note}`}
      </p>
    </section>
  );
}

function WorkLine({ board: { work, plan } }: { board: Board }) {
  const { state, mode, by, at, reason } = work;
  const when = at !== null && <Time at={at} className="min-w-0!" />;
  const who: ReactNode =
    mode === "autonomous" ? (
      <>it works by itself, since {when}</>
    ) : (
      by && (
        <>
          all steps, started by {by} {when}
        </>
      )
    );
  switch (state) {
    case "stopped":
      return (
        <span className="flex flex-wrap items-center gap-2">
          <StatusBadge status="Stopped" />
          <span className="min-w-0 break-words">
            by {by} {when}
            {reason && `: ${reason}`}
          </span>
        </span>
      );
    case "waiting":
      return (
        <span className="flex flex-wrap items-center gap-2">
          <StatusBadge status="Waiting for you" />
          <Link to="/inbox" className="text-accent underline">
            Decide in the inbox
          </Link>
          {who && <span>{who}</span>}
        </span>
      );
    case "working":
      return (
        <span className="flex flex-wrap items-center gap-2">
          <StatusBadge status="Running" />
          {who && <span>{who}</span>}
        </span>
      );
    default:
      return plan?.state === "active" ? <span>Nobody works on it now.</span> : null;
  }
}
