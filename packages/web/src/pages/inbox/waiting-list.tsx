import { Link } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { useMe } from "../../session.ts";
import { cx } from "../../ui/class-names.ts";
import { WarningIcon } from "../../ui/icons.tsx";
import { Countdown, Time } from "../../ui/time.tsx";
import { type Approval, hintOf, isOpen, KIND_WORDS, titleOf } from "./approval.ts";
import { Outcome } from "./outcome-mark.tsx";

/** What waits, oldest first: tool, who asks, for which run, since when, and how long still. */
export function WaitingList({ rows, selected }: { rows: readonly Approval[]; selected: string | undefined }) {
  return (
    <ul aria-label="Waiting for a decision">
      {rows.map((row) => (
        <Row key={row.id} row={row} selected={row.id === selected} />
      ))}
    </ul>
  );
}

function Row({ row, selected }: { row: Approval; selected: boolean }) {
  const me = useMe()?.user.name;
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    if (selected) link.current?.scrollIntoView({ block: "nearest" });
  }, [selected]);
  const open = isOpen(row);
  const hint = hintOf(row);
  return (
    <li className="border-b border-line">
      <Link
        ref={link}
        to="/inbox/$id"
        params={{ id: row.id }}
        aria-current={selected ? "true" : undefined}
        className={cx(
          "flex min-h-14 flex-col justify-center gap-0.5 px-3 py-2 -outline-offset-2 hover:bg-panel coarse:min-h-16",
          selected && "bg-accent-soft shadow-[inset_2px_0_0_var(--accent)] hover:bg-accent-soft",
        )}
      >
        <span className="flex items-baseline justify-between gap-3">
          <span
            className={cx(
              "min-w-0 truncate text-sm font-semibold",
              row.kind !== "workflow_node" && "font-mono",
              !open && "font-normal text-muted",
            )}
          >
            {titleOf(row)}
          </span>
          <span className="shrink-0 text-sm">
            {!open ? (
              <Outcome approval={row} me={me} />
            ) : row.deadline === null ? (
              <span className="text-xs text-faint">no deadline</span>
            ) : (
              <Countdown until={row.deadline} over="closing" />
            )}
          </span>
        </span>
        <span className="flex items-baseline gap-1.5 text-xs text-muted">
          {row.irreversible && open && (
            <span className="inline-flex items-center gap-1 self-center whitespace-nowrap text-amber">
              <WarningIcon width={12} height={12} />
              irreversible
            </span>
          )}
          {row.kind !== "tool_call" && <span className="whitespace-nowrap">{KIND_WORDS[row.kind]}</span>}
          <span className="min-w-0 truncate">
            {row.agent}
            {row.requested_by !== null && ` for ${row.requested_by}`}
          </span>
          <span className="min-w-0 flex-1 truncate font-mono text-faint" title={row.run_id}>
            {row.run_id}
          </span>
          <Time at={row.requested_at} className="shrink-0 text-right" />
        </span>
        {hint && <span className="truncate font-mono text-xs text-muted">{hint}</span>}
      </Link>
    </li>
  );
}
