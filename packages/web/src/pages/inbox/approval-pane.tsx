import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { client } from "../../api.ts";
import { useApprovalChanges } from "../../shell/approval-changes.ts";
import { useTitle } from "../../title.ts";
import { IconButton } from "../../ui/button.tsx";
import { copyText } from "../../ui/copy-button.tsx";
import { CopyIcon, LinkIcon, MoreIcon, WarningIcon } from "../../ui/icons.tsx";
import { Menu } from "../../ui/menu.tsx";
import { QueryState } from "../../ui/query-state.tsx";
import { Loading } from "../../ui/states.tsx";
import { StatusBadge, Tag } from "../../ui/status-badge.tsx";
import { Countdown, Time } from "../../ui/time.tsx";
import { toast } from "../../ui/toast.tsx";
import { type Approval, type Detail, isOpen, isWait, KIND_WORDS, questionOf, subjectOf } from "./approval.ts";
import { Decision } from "./decision.tsx";
import { LedHere, Siblings, WhatHappens, Why } from "./evidence.tsx";
import { LedToNode, NodeConsequences, WhereToSend } from "./node-evidence.tsx";
import { Outcome } from "./outcome-mark.tsx";

export interface ApprovalPaneProps {
  id: string;
  /** The next one that waits, to go on with after a decision. */
  next: Approval | undefined;
  /** On a phone: the way back to the list. */
  back?: ReactNode;
}

/** One question with its evidence, and what can be decided. The decision stays in reach; the evidence scrolls. */
export function ApprovalPane({ id, next, back }: ApprovalPaneProps) {
  const changes = useApprovalChanges();
  const query = useQuery({
    queryKey: ["approvals", "one", id],
    queryFn: ({ signal }) => client.getApproval({ params: { id } }, { signal }),
  });
  useTitle(query.data ? questionOf(query.data) : "Inbox");
  return (
    <article aria-label="Approval" className="flex h-full min-h-0 min-w-0 flex-col">
      {back}
      <QueryState query={query} what="Approval" loading={<PaneLoading />}>
        {(found) => {
          // The stream is ahead of what it makes us load.
          const now = changes.get(id);
          const detail: Detail =
            now !== undefined && isOpen(found) && !isOpen(now)
              ? { ...found, state: now.state, decision: now.decision }
              : found;
          return (
            <Decision
              key={id}
              detail={detail}
              next={next}
              header={<Header detail={detail} />}
              why={
                <>
                  <Why detail={detail} />
                  <WhereToSend detail={detail} />
                </>
              }
              happens={
                detail.kind === "workflow_node" ? (
                  <NodeConsequences detail={detail} />
                ) : (
                  <WhatHappens detail={detail} consequences={detail.consequences} />
                )
              }
              evidence={
                <>
                  {detail.run.kind === "workflow" ? (
                    <LedToNode detail={detail} />
                  ) : (
                    <LedHere detail={detail} />
                  )}
                  <Siblings detail={detail} changes={changes} />
                </>
              }
            />
          );
        }}
      </QueryState>
    </article>
  );
}

function PaneLoading() {
  return (
    <div className="flex flex-col gap-4 p-4">
      <div className="skeleton h-6 w-72" />
      <Loading shape="lines" count={4} />
      <div className="skeleton h-40 w-full" />
    </div>
  );
}

function Header({ detail }: { detail: Detail }) {
  const { kind, irreversible, deadline, agent, run_id, requested_by, requested_at, tool_description } =
    detail;
  const open = isOpen(detail);
  return (
    <header className="flex min-w-0 flex-col gap-1">
      <div className="flex min-h-8 flex-wrap items-center gap-2">
        {open ? <StatusBadge status="Waiting for you" /> : <Outcome approval={detail} by={false} />}
        {kind !== "tool_call" && <Tag>{isWait(detail) ? "Workflow waits" : KIND_WORDS[kind]}</Tag>}
        <span className="ml-auto flex items-center gap-2 text-sm text-muted">
          {open && deadline !== null && (
            <span>
              <Countdown until={deadline} over="closing" /> left
            </span>
          )}
          <More detail={detail} />
        </span>
      </div>
      <h2 className="text-xl font-semibold break-words">
        <Question detail={detail} />
      </h2>
      <p className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5 text-sm text-muted">
        {detail.run.kind === "workflow" ? (
          <span>
            Workflow{" "}
            <Link
              to="/workflows/$name"
              params={{ name: detail.run.agent }}
              search={{ run: run_id } as never} // the router types each route's search; ours is plain
              className="text-ink underline"
            >
              {detail.run.agent}
            </Link>
          </span>
        ) : (
          <span>
            Agent{" "}
            <Link to="/agents/$name" params={{ name: agent }} className="text-ink underline">
              {agent}
            </Link>
          </span>
        )}
        <span className="min-w-0 break-all">
          Run{" "}
          <Link to="/runs/$id" params={{ id: run_id }} className="font-mono text-ink underline">
            {run_id}
          </Link>
        </span>
        <span>For {requested_by ?? "nobody in particular"}</span>
        <span>
          Asked <Time at={requested_at} className="min-w-0!" />
        </span>
      </p>
      {tool_description && <p className="measure break-words">{tool_description}</p>}
      {irreversible && open && (
        <p className="measure flex items-start gap-1.5 text-amber">
          <WarningIcon className="mt-0.5" />
          <span>
            {kind === "workflow_node"
              ? `What follows ${subjectOf(detail)} cannot`
              : `What ${subjectOf(detail)} does cannot`}{" "}
            be taken back. No single key approves it: the button asks once more.
          </span>
        </p>
      )}
    </header>
  );
}

/** The question, with the tool's name as code. */
function Question({ detail }: { detail: Detail }) {
  const words = questionOf(detail);
  // A node asks in its own words, in which its name means nothing.
  if (detail.tool === null || detail.kind === "workflow_node") return words;
  const [before = "", after = ""] = words.split(detail.tool);
  return (
    <>
      {before}
      <span className="font-mono">{detail.tool}</span>
      {after}
    </>
  );
}

function More({ detail }: { detail: Detail }) {
  const copy = async (what: string, text: string) => {
    const done = await copyText(text);
    toast(done ? { title: `${what} copied` } : { kind: "problem", title: "Not copied" });
  };
  const path = client.url("getApproval", { params: { id: detail.id } });
  return (
    <Menu
      trigger={<IconButton icon={MoreIcon} label="Copy" size="small" />}
      items={[
        { label: "Copy link", icon: LinkIcon, run: () => void copy("Link", location.href) },
        {
          label: "Copy JSON",
          icon: CopyIcon,
          run: () => void copy("JSON", JSON.stringify(detail, null, 2)),
        },
        {
          label: "Copy as curl",
          icon: CopyIcon,
          run: () =>
            void copy(
              "Command",
              `curl -H "Authorization: Bearer $TRACKSIDE_TOKEN" '${new URL(path, location.origin)}'`,
            ),
        },
      ]}
    />
  );
}
