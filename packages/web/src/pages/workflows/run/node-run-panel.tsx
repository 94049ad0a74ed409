import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { client } from "../../../api.ts";
import { useMay, WHO_MAY } from "../../../session.ts";
import { Button } from "../../../ui/button.tsx";
import { CodeBlock } from "../../../ui/code-block.tsx";
import { Confirm } from "../../../ui/confirm.tsx";
import { ExternalIcon, InboxIcon, RetryIcon } from "../../../ui/icons.tsx";
import { JsonView } from "../../../ui/json-view.tsx";
import { Countdown, Duration, Time } from "../../../ui/time.tsx";
import { Cost } from "../../runs/cost.tsx";
import { NodeStateBadge } from "../canvas/node-state.tsx";
import { type NodeDraft, titleOf } from "../draft/definition.ts";
import { KIND_WORDS, summaryOf } from "../draft/words.ts";
import type { NodeRun } from "./node-run.ts";

/** How one node went: what it was given, what it came to, why it failed, and where there is more. */
export function NodeRunPanel({
  id,
  node,
  run,
  runId,
  workflow,
  over,
}: {
  id: string;
  node: NodeDraft;
  run: NodeRun | undefined;
  runId: string;
  workflow: string;
  /** The run has ended: what failed can be tried again from here. */
  over: boolean;
}) {
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <div className="flex flex-wrap items-center gap-2">
        {run ? <NodeStateBadge run={run} /> : <span className="text-muted">Not begun</span>}
        {run && run.state !== "skipped" && (
          <span className="text-sm text-muted">
            {run.ended === null ? (
              <>
                for <Duration since={run.started} />
              </>
            ) : (
              <Duration ms={run.ended - run.started} />
            )}
            {run.attempt > 1 && `, try ${run.attempt}`}
          </span>
        )}
        {run?.usage && (
          <span className="text-sm text-muted">
            <Cost value={run.usage.cost} />
          </span>
        )}
      </div>
      <p className="text-sm text-muted">
        {KIND_WORDS[node.kind].word}: {summaryOf(node)}
      </p>
      {run?.reason && <p>{run.reason}</p>}
      {run?.retryAt != null && (
        <p>
          It tries again in <Countdown until={run.retryAt} over="a moment" />.
        </p>
      )}
      {run?.state === "waiting" && run.approvalId !== undefined && <DecideLink id={run.approvalId} />}
      {run?.failure && (
        <section aria-label="Why it failed" className="rounded-md border border-red bg-red-soft px-3 py-2">
          <p className="font-mono text-xs text-red">{run.failure.code}</p>
          <p className="break-words">{run.failure.message}</p>
        </section>
      )}
      {over && run?.state === "failed" && <RetryFrom {...{ id, node, runId, workflow }} />}
      {run?.items !== undefined && (
        <p>
          {run.items} entries{run.itemsFailed ? `, ${run.itemsFailed} of them failed` : ""}
        </p>
      )}
      {run?.childRunId !== undefined && <ChildLink node={node} id={run.childRunId} />}
      {run?.output !== undefined && (
        <section aria-label="Output" className="flex min-w-0 flex-col gap-1">
          <h3 className="font-medium">Output</h3>
          {typeof run.output === "string" ? (
            <CodeBlock code={run.output} label="Output" />
          ) : (
            <JsonView value={run.output} label="Output" />
          )}
        </section>
      )}
      {run?.given && (
        <section aria-label="Arguments" className="flex min-w-0 flex-col gap-1">
          <h3 className="font-medium">Arguments</h3>
          <JsonView value={run.given} label="Arguments" />
        </section>
      )}
      <section aria-label="What it was told" className="flex min-w-0 flex-col gap-1">
        <h3 className="font-medium">What it was told</h3>
        <JsonView value={toldOf(node)} label="Definition of the node" />
      </section>
      {run && (
        <p className="text-xs text-muted">
          Began <Time at={run.started} className="min-w-0" />
        </p>
      )}
    </div>
  );
}

/** Where whoever is asked decides. */
export function DecideLink({ id, what }: { id: string; what?: string }) {
  return (
    <Link
      to="/inbox/$id"
      params={{ id }}
      className="inline-flex min-h-8 w-fit max-w-full items-center gap-1.5 rounded-md bg-accent-fill px-3 py-1 font-medium text-on-accent coarse:min-h-10"
    >
      <InboxIcon />
      <span className="min-w-0 break-words">
        {what === undefined ? "Decide in the inbox" : `Decide ${what}`}
      </span>
    </Link>
  );
}

/** The run of an agent has its page; that of another workflow has its canvas. */
function ChildLink({ node, id }: { node: NodeDraft; id: string }) {
  const look = "inline-flex w-fit items-center gap-1.5 text-accent underline";
  if (node.kind === "workflow")
    return (
      <Link
        to="/workflows/$name"
        params={{ name: node.workflow }}
        search={{ run: id } as never} // every route reads a plain search
        className={look}
      >
        <ExternalIcon />
        Show its run on its canvas
      </Link>
    );
  return (
    <Link to="/runs/$id" params={{ id }} className={look}>
      <ExternalIcon />
      Open its run
    </Link>
  );
}

/** The node without what only the canvas needs. */
function toldOf({ position: _, ...node }: NodeDraft): unknown {
  return node;
}

function RetryFrom({
  id,
  node,
  runId,
  workflow,
}: {
  id: string;
  node: NodeDraft;
  runId: string;
  workflow: string;
}) {
  const [open, setOpen] = useState(false);
  const may = useMay("operate");
  const navigate = useNavigate();
  const title = titleOf(id, node);
  return (
    <>
      <Button
        icon={RetryIcon}
        className="w-fit"
        disabled={!may}
        title={may ? undefined : `${WHO_MAY.operate} can`}
        onClick={() => setOpen(true)}
      >
        Retry from here
      </Button>
      <Confirm
        open={open}
        onClose={() => setOpen(false)}
        title={`Retry from ${title}?`}
        description="A new run begins at this node. What completed before it is taken over and not run again; what comes after it runs. This run stays as it is."
        action={`Retry from ${title}`}
        onConfirm={async () => {
          const made = await client.retryRun({ params: { id: runId }, body: { node: id } });
          void navigate({
            to: "/workflows/$name",
            params: { name: workflow },
            search: { run: made.id } as never, // every route reads a plain search
          });
        }}
      />
    </>
  );
}
