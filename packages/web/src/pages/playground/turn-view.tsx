import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { memo, type ReactNode } from "react";
import type { UserPart } from "trackside/schema";
import { client, explain } from "../../api.ts";
import { useMay, WHO_MAY } from "../../session.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { copyText } from "../../ui/copy-button.tsx";
import { BranchIcon, CopyIcon, ExternalIcon, MoreIcon, RetryIcon, WarningIcon } from "../../ui/icons.tsx";
import { Menu } from "../../ui/menu.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { toast } from "../../ui/toast.tsx";
import { ItemView } from "./item-view.tsx";
import type { Item } from "./items.ts";
import { Said } from "./said.tsx";
import { isOver, type RunView, rootOf, type Tree } from "./transcript.ts";
import type { Turn } from "./turns.ts";

export interface TurnViewProps {
  turn: Turn;
  tree: Tree | undefined;
  /** When the run began. */
  at: number | undefined;
  /** Where a branch may begin, by message. */
  points: ReadonlyMap<string, string>;
  onBranch: (messageId: string) => void;
  onRetried: (branch: string) => void;
  isLast: boolean;
}

/** What somebody said and what came of it. */
export const TurnView = memo(
  function TurnView({ turn, tree, at, points, onBranch, onRetried, isLast }: TurnViewProps) {
    const run = tree && rootOf(tree);
    const items = run ? [...run.items, ...run.live] : turn.items;
    const over = run ? isOver(run) : true;
    const menu = (messageId: string, text: string) => (
      <MessageMenu point={points.get(messageId)} text={text} runId={turn.runId} onBranch={onBranch} />
    );
    return (
      <article
        aria-label="Turn"
        className="flex min-w-0 flex-col gap-3 border-line py-4 not-first:border-t [contain-intrinsic-size:auto_320px] [content-visibility:auto]"
      >
        {turn.user && (
          <div className="group/message relative rounded-md bg-panel py-2 pr-10 pl-3">
            <Said parts={turn.user.parts} />
            <div className="absolute top-1.5 right-1.5">{menu(turn.user.id, wordsOf(turn.user.parts))}</div>
          </div>
        )}
        {turn.retriedFrom && (
          <p className="flex items-center gap-2 text-xs text-muted">
            <RetryIcon width={12} height={12} />
            Tried again from{" "}
            <Link
              to="/runs/$id"
              params={{ id: turn.retriedFrom }}
              className="rounded-sm text-accent underline"
            >
              a run that failed
            </Link>
          </p>
        )}
        {items.map((item) => (
          <Row key={item.key} menu={item.kind === "text" ? menu(item.key, item.text) : null}>
            <ItemView item={item} isOver={over} tree={tree} />
          </Row>
        ))}
        {run && !over && <Doing run={run} items={items} />}
        {run && <Ending run={run} onRetried={onRetried} isLast={isLast} />}
        {at !== undefined && over && turn.user && (
          <p className="text-xs text-faint">
            <Time at={at} />
          </p>
        )}
      </article>
    );
  },
  (before, after) =>
    before.turn === after.turn &&
    before.tree === after.tree &&
    before.at === after.at &&
    before.points === after.points &&
    before.isLast === after.isLast,
);

function Row({ menu, children }: { menu: ReactNode; children: ReactNode }) {
  if (menu === null) return <div className="min-w-0">{children}</div>;
  return (
    <div className="group/message relative min-w-0 pr-10">
      {children}
      <div className="absolute -top-0.5 right-1.5">{menu}</div>
    </div>
  );
}

function MessageMenu({
  point,
  text,
  runId,
  onBranch,
}: {
  point: string | undefined;
  text: string;
  runId: string | null;
  onBranch: (messageId: string) => void;
}) {
  const mayOperate = useMay("operate");
  return (
    <Menu
      trigger={
        <IconButton
          size="small"
          icon={MoreIcon}
          label="Actions of this message"
          className="opacity-0 group-hover/message:opacity-100 focus-visible:opacity-100 data-popup-open:opacity-100 coarse:opacity-100"
        />
      }
      items={[
        {
          label: "Branch from here",
          icon: BranchIcon,
          disabled: point === undefined || !mayOperate,
          hint: !mayOperate
            ? `${WHO_MAY.operate} can`
            : point === undefined
              ? "Its calls have no results yet"
              : "Goes on from this message; this branch stays",
          run: () => point !== undefined && onBranch(point),
        },
        { label: "Copy text", icon: CopyIcon, run: () => void copyText(text) },
        ...(runId === null
          ? []
          : [{ label: "Copy run id", icon: ExternalIcon, hint: runId, run: () => void copyText(runId) }]),
      ]}
    />
  );
}

/** What it is at, while nothing is to be read yet. */
function Doing({ run, items }: { run: RunView; items: readonly Item[] }) {
  const last = items.at(-1);
  const isSilent = run.live.length === 0 && !(last?.kind === "call" && last.result === null);
  if (run.state === "parked" || !isSilent || run.state === "waiting") return null;
  const words = run.isPlanning
    ? "Planning"
    : run.seq === 0
      ? "Starting"
      : run.heldBy.length > 0 && run.state === "running"
        ? `Writing; shown once ${run.heldBy.join(", ")} has passed it`
        : "Working";
  return (
    <p className="flex h-5 items-center gap-2 text-sm text-muted">
      <span aria-hidden="true" className="skeleton inline-block size-2 rounded-full bg-blue" />
      {words}
    </p>
  );
}

const STOPPED_AT: Readonly<Record<string, string>> = {
  max_steps: "It stopped at the most steps it may take.",
  budget: "It stopped at the limit of its context.",
  halted: "A rail or hook ended it here.",
  skipped: "A rail skipped it.",
};

/** How it ended, where that is more than an answer. */
function Ending({
  run,
  onRetried,
  isLast,
}: {
  run: RunView;
  onRetried: (branch: string) => void;
  isLast: boolean;
}) {
  const mayOperate = useMay("operate");
  const retry = useMutation({
    mutationFn: () => client.retryRun({ params: { id: run.id }, body: {} }),
    onSuccess: ({ branch_id }) => onRetried(branch_id),
    onError: (error) => toast({ kind: "problem", title: "Not tried again", detail: explain(error) }),
  });
  const resume = useMutation({
    mutationFn: () => client.resumeRun({ params: { id: run.id } }),
    onError: (error) => toast({ kind: "problem", title: "Not resumed", detail: explain(error) }),
  });
  const open = (
    <Link
      to="/runs/$id"
      params={{ id: run.id }}
      className="rounded-sm text-sm text-accent underline underline-offset-2"
    >
      Open the run
    </Link>
  );
  if (run.state === "error")
    return (
      <div role="alert" className="measure rounded-md border border-line bg-panel p-3">
        <p className="flex items-center gap-2">
          <StatusBadge status="Failed" />
          <span className="font-mono text-xs text-muted">{run.failure?.code}</span>
        </p>
        <p className="mt-2 break-words">{run.failure?.message ?? run.reason}</p>
        <div className="mt-3 flex flex-wrap items-center gap-3">
          <Button
            size="small"
            icon={RetryIcon}
            pending={retry.isPending}
            disabled={!mayOperate}
            title={mayOperate ? undefined : `${WHO_MAY.operate} can`}
            onClick={() => retry.mutate()}
          >
            Retry
          </Button>
          {open}
          {isLast && (
            <span className="text-xs text-faint">Retrying goes on from the last step, on a branch.</span>
          )}
        </div>
      </div>
    );
  if (run.state === "parked")
    return (
      <div role="alert" className="measure rounded-md border border-amber p-3">
        <StatusBadge status="Parked" />
        <p className="mt-2 break-words">{run.reason}</p>
        <div className="mt-3 flex flex-wrap items-center gap-3">
          <Button
            size="small"
            pending={resume.isPending}
            disabled={!mayOperate}
            title={mayOperate ? undefined : `${WHO_MAY.operate} can`}
            onClick={() => resume.mutate()}
          >
            Resume
          </Button>
          {open}
        </div>
      </div>
    );
  if (run.state === "cancelled")
    return (
      <p className="flex flex-wrap items-center gap-2 text-sm text-muted">
        <StatusBadge status="Stopped" />
        <span className="min-w-0 break-words">{run.reason}</span>
        {open}
      </p>
    );
  const stopped = run.state === "completed" ? STOPPED_AT[run.stopReason ?? ""] : undefined;
  if (stopped === undefined) return null;
  return (
    <p className="flex flex-wrap items-center gap-2 text-sm text-muted">
      <WarningIcon className="text-amber" />
      {run.reason ? `${stopped.slice(0, -1)}: ${run.reason}` : stopped} {open}
    </p>
  );
}

function wordsOf(parts: readonly UserPart[]): string {
  return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
}
