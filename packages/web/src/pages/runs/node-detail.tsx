import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useMay, WHO_MAY } from "../../session.ts";
import { Button } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { ChevronRightIcon, RetryIcon } from "../../ui/icons.tsx";
import { JsonView } from "../../ui/json-view.tsx";
import { Tokens } from "../../ui/numbers.tsx";
import { Tag } from "../../ui/status-badge.tsx";
import { Countdown, Duration, Time } from "../../ui/time.tsx";
import { KIND_WORDS } from "../workflows/draft/words.ts";
import { Cost } from "./cost.tsx";
import { Facts, Part } from "./facts.tsx";
import { NodeBadge } from "./node-badge.tsx";
import { NodeItems } from "./node-items.tsx";
import type { NodeView } from "./nodes.ts";
import { RetryNode } from "./retry-node.tsx";
import { RunLink } from "./run-head.tsx";
import type { EventOf, RunDetail } from "./types.ts";
import type { Graph } from "./use-nodes.ts";
import type { Row } from "./waterfall.ts";
import { canRetry } from "./words.ts";

interface NodeDetailProps {
  readonly node: NodeView;
  readonly run: RunDetail;
  readonly graph: Graph;
  /** When it was stands above. */
  readonly isTimed?: boolean;
}

/** How one node went: what it came to, why it failed, who is asked, and where there is more. */
export function NodeDetail({ node, run, graph, isTimed = false }: NodeDetailProps) {
  const { state, failure, reason, row } = node;
  return (
    <>
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <NodeBadge node={node} />
        {node.isReused && <Tag title="It was over in the run that this one was retried from">reused</Tag>}
        <span className="min-w-0 break-words text-sm text-muted">
          {KIND_WORDS[node.kind].word}: {node.does}
        </span>
      </p>
      {node.asks.map((id) => (
        <DecideLink key={id} id={id} row={row} />
      ))}
      {state === "idle" && <p className="mt-3 text-muted">{idleWords(run)}</p>}
      {reason !== undefined && <p className="mt-3">Nothing led to it: {reason}.</p>}
      {failure && (
        <Part title={state === "running" ? "The try before" : "Why it failed"}>
          <p className="break-words whitespace-pre-wrap text-red">{failure.message}</p>
          <code className="font-mono text-xs text-muted">{failure.code}</code>
          {node.isHandled && (
            <p className="text-sm text-muted">The workflow goes on by its {node.port} edge.</p>
          )}
        </Part>
      )}
      <div className="mt-4">
        <NodeFacts node={node} isTimed={isTimed} />
      </div>
      <RetryFrom node={node} run={run} graph={graph} />
      {row?.tally && row.children.length > 0 && <NodeItems row={row} />}
      <Output node={node} />
      <Part title="As it is defined">
        <JsonView value={withoutPlace(graph.workflow.nodes[node.id])} label={`Definition of ${node.title}`} />
      </Part>
    </>
  );
}

function NodeFacts({ node, isTimed }: { node: NodeView; isTimed: boolean }) {
  const { start, end, usage, port } = node;
  const began = !isTimed && node.state !== "skipped" && node.state !== "idle" && !node.isReused;
  return (
    <Facts
      of={[
        ["Began", began && start !== null && <Time key="b" at={start} className="min-w-0!" />],
        [
          "Duration",
          began &&
            start !== null &&
            (end === null ? <Duration key="d" since={start} /> : <Duration key="d" ms={end - start} />),
        ],
        ["Tries", node.attempt > 1 && node.attempt],
        ["Went", (port === "true" || port === "false") && port],
        [
          "Tokens",
          usage && usage.model_calls > 0 && (
            <span key="t">
              <Tokens value={usage.input_tokens} unit={false} /> in,{" "}
              <Tokens value={usage.output_tokens} unit={false} /> out
            </span>
          ),
        ],
        ["Cost", usage && usage.model_calls > 0 && <Cost key="c" value={usage.cost} />],
        ["Its run", node.childRunId !== undefined && <RunLink key="r" id={node.childRunId} />],
        [
          "Decision",
          node.approvalId !== undefined && node.asks.length === 0 && (
            <Link
              key="a"
              to="/inbox/$id"
              params={{ id: node.approvalId }}
              className="text-accent hover:underline"
            >
              Open it in the inbox
            </Link>
          ),
        ],
      ]}
    />
  );
}

/** The way to what has to be decided before it goes on. */
function DecideLink({ id, row }: { id: string; row: Row | undefined }): ReactNode {
  const asked = row && questionIn(row, id);
  return (
    <Link
      to="/inbox/$id"
      params={{ id }}
      className="mt-3 flex min-h-9 items-center gap-3 rounded-md border border-amber bg-amber-soft px-3 py-1 coarse:min-h-12"
    >
      <span className="min-w-0 flex-1 truncate font-medium">
        {asked?.reasons[0] ?? "Decide what it asks"}
      </span>
      {asked?.deadline != null && <Countdown until={asked.deadline} over="timed out" />}
      <ChevronRightIcon />
    </Link>
  );
}

/** The question may be of a run below: it is looked for in what is not over. */
function questionIn(row: Row, id: string): EventOf<"approval"> | undefined {
  const todo = [row];
  for (let one = todo.pop(); one; one = todo.pop()) {
    const [event] = one.events;
    if (event?.type === "approval" && event.approval_id === id) return event;
    for (const child of one.children) if (child.end === null) todo.push(child);
  }
  return undefined;
}

function idleWords({ ended_at }: RunDetail): string {
  return ended_at === null ? "Its turn has not come yet." : "The run ended before its turn came.";
}

/** Large outputs are shown when somebody asks for them. */
const LARGE = 20_000;

function Output({ node: { output, title } }: { node: NodeView }) {
  const [open, setOpen] = useState(false);
  if (output === undefined) return null;
  const size = typeof output === "string" ? output.length : JSON.stringify(output).length;
  if (size > LARGE && !open)
    return (
      <Part title="Output">
        <Button size="small" onClick={() => setOpen(true)}>
          Show all {Math.round(size / 1000)} kB of it
        </Button>
      </Part>
    );
  return (
    <Part title="Output">
      {typeof output === "string" ? (
        <CodeBlock code={output} wrap label={`Output of ${title}`} />
      ) : (
        <JsonView value={output} label={`Output of ${title}`} />
      )}
    </Part>
  );
}

function RetryFrom({ node, run, graph }: { node: NodeView; run: RunDetail; graph: Graph }) {
  const [open, setOpen] = useState(false);
  const may = useMay("operate");
  if (!canRetry(run) || node.state === "idle") return null;
  return (
    <div className="mt-4">
      <Button
        icon={RetryIcon}
        size="small"
        disabled={!may}
        title={may ? undefined : `${WHO_MAY.operate} can`}
        onClick={() => setOpen(true)}
      >
        Retry from here…
      </Button>
      {open && <RetryNode run={run} graph={graph} node={node.id} onClose={() => setOpen(false)} />}
    </div>
  );
}

/** The node without what only the canvas needs. */
function withoutPlace(node: Graph["workflow"]["nodes"][string] | undefined): unknown {
  if (node === undefined) return null;
  const { position: _, ...rest } = node;
  return rest;
}
