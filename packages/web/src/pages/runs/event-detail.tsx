import { Link } from "@tanstack/react-router";
import { client } from "../../api.ts";
import { formatDuration } from "../../format/duration.ts";
import { formatCount } from "../../format/number.ts";
import { exactTime } from "../../format/time.ts";
import { useSearchState } from "../../search.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { CopyButton, copyText } from "../../ui/copy-button.tsx";
import { DiffView } from "../../ui/diff-view.tsx";
import { CloseIcon, DownloadIcon, LinkIcon } from "../../ui/icons.tsx";
import { JsonView } from "../../ui/json-view.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { Bytes, Money } from "../../ui/numbers.tsx";
import { Tag } from "../../ui/status-badge.tsx";
import { toast } from "../../ui/toast.tsx";
import { Facts, Part } from "./facts.tsx";
import { NodeDetail } from "./node-detail.tsx";
import { NodeItems } from "./node-items.tsx";
import { RunLink } from "./run-head.tsx";
import type { RunLog } from "./run-log.ts";
import { iconOf, TONES } from "./timeline-row.tsx";
import type { EventOf, RailRecord, RunDetail, RunEvent } from "./types.ts";
import type { Graph } from "./use-nodes.ts";
import type { Row } from "./waterfall.ts";

interface EventDetailProps {
  readonly row: Row;
  readonly title: string;
  readonly run: RunDetail;
  readonly log: RunLog;
  /** Of a workflow's run. */
  readonly graph: Graph | undefined;
  readonly priority: number | undefined;
  onClose?(): void;
}

/** Everything that is known of a row. Arguments and results are whole; what is long scrolls in place. */
export function EventDetail({ row, title, run, log, graph, priority, onClose }: EventDetailProps) {
  const KindIcon = iconOf(row);
  return (
    <div className="min-w-0 pb-4">
      <header className="sticky top-0 z-20 flex items-center gap-2 bg-canvas pb-2 max-md:static max-md:bg-transparent">
        <KindIcon className={TONES[row.tone]} />
        <h2 className="min-w-0 flex-1 truncate font-semibold max-md:sr-only">{title}</h2>
        <span className="max-md:flex-1" />
        <IconButton
          size="small"
          icon={LinkIcon}
          label="Copy link to this row"
          onClick={async () => {
            if (await copyText(location.href)) toast({ title: "The link is copied" });
          }}
        />
        <CopyButton text={() => JSON.stringify(row.events, null, 2)} label="Copy its events as JSON" />
        {onClose && <IconButton size="small" icon={CloseIcon} label="Close the details" onClick={onClose} />}
      </header>
      <Facts
        of={[
          ["From", <time key="f">{exactTime(row.start)}</time>],
          ["Until", row.end === null ? "now" : row.end === row.start ? undefined : exactTime(row.end)],
          [
            "Duration",
            row.end === null || row.end === row.start ? undefined : formatDuration(row.end - row.start),
          ],
          ["Step", row.step],
          ["Run", row.runId === run.id ? undefined : <RunLink key="r" id={row.runId} />],
        ]}
      />
      <Own row={row} run={run} log={log} graph={graph} priority={priority} />
      <details className="mt-4">
        <summary className="text-xs font-medium text-muted hover:text-ink">
          Events as recorded ({row.events.length})
        </summary>
        <JsonView
          value={row.events.length === 1 ? row.events[0] : row.events}
          label="Events"
          open={2}
          className="mt-1"
        />
      </details>
    </div>
  );
}

function Own({ row, run, log, graph, priority }: Omit<EventDetailProps, "title" | "onClose">) {
  switch (row.kind) {
    case "node": {
      const node = row.runId === run.id ? graph?.nodes.find((one) => one.row === row) : undefined;
      if (node === undefined || graph === undefined) return <OtherNode row={row} />;
      return (
        <div className="mt-3">
          <NodeDetail node={node} run={run} graph={graph} isTimed />
        </div>
      );
    }
    case "tool":
      return <ToolDetail row={row} />;
    case "model":
      return <ModelDetail row={row} />;
    case "rail":
      return row.record ? <RailDetail record={row.record} priority={priority} /> : null;
    case "approval":
      return <ApprovalDetail row={row} />;
    case "step":
    case "planner":
      return <StepDetail row={row} />;
    case "subagent":
      return <SubagentDetail row={row} />;
    default:
      return <PlainDetail row={row} log={log} />;
  }
}

const find = <T extends RunEvent["type"]>(row: Row, type: T): EventOf<T> | undefined =>
  // The last one that has this type has its shape.
  row.events.findLast((event) => event.type === type) as EventOf<T> | undefined;

function ToolDetail({ row }: { row: Row }) {
  const call = find(row, "tool_call");
  const result = find(row, "tool_result");
  const metadata = result?.metadata;
  const rails = row.children.flatMap(({ record }) => (record ? [record] : []));
  return (
    <>
      {row.progress && (
        <Part title="Progress">
          <p>
            {row.progress.done}
            {row.progress.total !== null && ` of ${row.progress.total}`}
            {row.progress.message !== null && `: ${row.progress.message}`}
          </p>
        </Part>
      )}
      {result?.error && (
        <Part title="Error">
          <p className="break-words whitespace-pre-wrap text-red">{result.error}</p>
        </Part>
      )}
      {call && (
        <Part title={metadata?.original_args ? "Arguments as the model wrote them" : "Arguments"}>
          {call.arguments === null ? (
            <p className="text-red">They did not parse.</p>
          ) : (
            <JsonView value={call.arguments} label={`Arguments of ${row.title}`} />
          )}
        </Part>
      )}
      {call?.arguments && metadata?.original_args && (
        <ChangedArguments before={metadata.original_args} after={call.arguments} />
      )}
      {rails.length > 0 && (
        <Part title="Rails">
          <ul className="flex flex-col gap-1 text-sm">
            {rails.map((record, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: records are written once and stay in order
              <li key={at}>
                <code className="font-mono">{record.rail}</code> <ActionTag record={record} />{" "}
                <span className="text-muted">{record.reason}</span>
              </li>
            ))}
          </ul>
        </Part>
      )}
      {result && <Output output={result.output} tool={row.title} />}
      {metadata && <Metadata metadata={metadata} />}
      {Object.keys(metadata?.injected_args ?? call?.injected_args ?? {}).length > 0 && (
        <Part title="Injected arguments">
          <JsonView value={metadata?.injected_args ?? call?.injected_args} label="Injected arguments" />
        </Part>
      )}
      {call && (
        <Part title="Call">
          <code className="font-mono text-xs break-all text-muted">{call.call_id}</code>
        </Part>
      )}
    </>
  );
}

function ChangedArguments({ before, after }: { before: unknown; after: unknown }) {
  if (JSON.stringify(before) === JSON.stringify(after)) return null;
  return (
    <Part title="Changed before it ran">
      <DiffView before={before} after={after} label="Arguments" />
    </Part>
  );
}

function Metadata({ metadata }: { metadata: EventOf<"tool_result">["metadata"] }) {
  const { approval_id, offloaded_artifact_id: artifact } = metadata;
  return (
    <Part title="Result's metadata">
      <Facts
        of={[
          ["Status", metadata.status],
          [
            "Approval",
            approval_id === null ? (
              metadata.approval_status
            ) : (
              <Link
                key="a"
                to="/inbox/$id"
                params={{ id: approval_id }}
                className="text-accent hover:underline"
              >
                {metadata.approval_status}
              </Link>
            ),
          ],
          [
            "Waited for it",
            metadata.approval_wait_ms > 0 ? formatDuration(metadata.approval_wait_ms) : "not at all",
          ],
          ["Started", exactTime(metadata.started_at)],
          ["Completed", exactTime(metadata.completed_at)],
          ["Execution", formatDuration(metadata.execution_time_ms)],
          ["Attempts", metadata.attempts],
          ["Skipped by", metadata.skipped_by ?? "nobody"],
          ["Artifact", artifact === null ? "none" : <ArtifactLink key="f" id={artifact} />],
        ]}
      />
    </Part>
  );
}

function ArtifactLink({ id }: { id: string }) {
  return (
    <a
      href={client.url("readArtifact", { params: { id } })}
      download=""
      className="inline-flex items-center gap-1 font-mono text-accent hover:underline"
    >
      <DownloadIcon width={12} height={12} />
      {id}
    </a>
  );
}

function Output({ output, tool }: { output: EventOf<"tool_result">["output"]; tool: string }) {
  return (
    <Part title="Result">
      {output.type === "text" ? (
        <CodeBlock code={output.value} wrap label={`Result of ${tool}`} />
      ) : (
        <JsonView
          value={output.type === "json" ? output.value : output.failure}
          label={`Result of ${tool}`}
        />
      )}
    </Part>
  );
}

function ModelDetail({ row }: { row: Row }) {
  const usage = find(row, "usage");
  const [, setSearch] = useSearchState();
  const said = row.events.filter((event) => event.type === "text");
  const thought = row.events.filter((event) => event.type === "reasoning");
  const calls = row.parent?.children.filter(({ kind }) => kind === "tool") ?? [];
  return (
    <>
      {usage && <UsageFacts event={usage} />}
      {thought.map((event) => (
        <details key={event.seq} className="mt-4">
          <summary className="text-xs font-medium text-muted hover:text-ink">Reasoning</summary>
          <div className="mt-1 text-muted">
            <Markdown text={event.text} />
          </div>
        </details>
      ))}
      {said.map((event) => (
        <Part
          key={event.seq}
          title={event.type === "text" && event.partial ? "Said, before it was cut off" : "Said"}
        >
          <Markdown text={event.text} />
        </Part>
      ))}
      {calls.length > 0 && (
        <Part title="Called">
          <ul className="flex flex-col gap-1">
            {calls.map((call) => (
              <li key={call.id}>
                <button
                  type="button"
                  onClick={() => setSearch({ event: call.id })}
                  className="font-mono text-sm text-accent hover:underline"
                >
                  {call.title}
                </button>
              </li>
            ))}
          </ul>
        </Part>
      )}
      {!row.id.includes(":") && (
        <p className="mt-4">
          <Button
            size="small"
            onClick={() =>
              setSearch(
                { tab: "requests", at: row.parent?.kind === "planner" ? 0 : (row.step ?? 1) },
                { push: true },
              )
            }
          >
            Show the request as sent
          </Button>
        </p>
      )}
    </>
  );
}

function UsageFacts({ event }: { event: EventOf<"usage"> }) {
  const { call, prefix, model, total } = event;
  return (
    <Part title="Tokens">
      <Facts
        of={[
          [
            "Model",
            <code key="m" className="font-mono">
              {model}
            </code>,
          ],
          ["Input", formatCount(call.input_tokens)],
          ["Of it cached", formatCount(call.cached_input_tokens)],
          [
            "Written to cache",
            call.cache_write_tokens > 0 ? formatCount(call.cache_write_tokens) : undefined,
          ],
          ["Output", formatCount(call.output_tokens)],
          ["Of it reasoning", call.reasoning_tokens > 0 ? formatCount(call.reasoning_tokens) : undefined],
          ["Cost", call.cost === null ? "not known" : <Money key="c" value={call.cost} />],
          ["Same beginning", prefix && `${formatCount(prefix.tokens)} tokens of the request before`],
          ["Broken by", prefix?.broken_by],
          ["Run so far", `${formatCount(total.input_tokens)} in, ${formatCount(total.output_tokens)} out`],
        ]}
      />
    </Part>
  );
}

function ActionTag({ record }: { record: RailRecord }) {
  return <Tag>{record.shadow ? `would ${record.action}` : record.action}</Tag>;
}

function RailDetail({ record, priority }: { record: RailRecord; priority: number | undefined }) {
  return (
    <Part title="Verdict">
      <Facts
        of={[
          [
            "Rail",
            <code key="r" className="font-mono">
              {record.rail}
            </code>,
          ],
          ["Priority", priority ?? "not known"],
          ["Point", record.point],
          ["Action", <ActionTag key="a" record={record} />],
          ["Reason", record.reason],
          ["Attempt", record.attempt],
          ["Took", formatDuration(record.duration_ms)],
          ["Shadow", record.shadow ? "yes: it is told, and not done" : "no"],
          ["Alert", record.alert],
        ]}
      />
    </Part>
  );
}

function ApprovalDetail({ row }: { row: Row }) {
  const event = find(row, "approval");
  if (!event) return null;
  const asked = row.events[0];
  return (
    <Part title="Approval">
      <Facts
        of={[
          ["State", event.state],
          ["Decided by", event.decided_by],
          [
            "Tool",
            event.tool && (
              <code key="t" className="font-mono">
                {event.tool}
              </code>
            ),
          ],
          ["Reasons", event.reasons.join("; ")],
          ["Deadline", event.deadline === null ? "none" : exactTime(event.deadline)],
          ["Waited", row.end === null || !asked ? undefined : formatDuration(row.end - asked.at)],
        ]}
      />
      <p className="mt-3">
        <Link to="/inbox/$id" params={{ id: event.approval_id }} className="text-accent hover:underline">
          {event.state === "pending" ? "Decide it" : "Open it in the inbox"}
        </Link>
      </p>
    </Part>
  );
}

function StepDetail({ row }: { row: Row }) {
  const passed = row.events.find((event) => event.type === "step" && event.state === "completed");
  const [, setSearch] = useSearchState();
  return (
    <Part title="In it">
      {passed?.type === "step" && passed.passed !== undefined && (
        <p className="mb-2 text-muted">{passed.passed} rails passed without a word.</p>
      )}
      <ul className="flex flex-col gap-1 text-sm">
        {row.children.map((child) => (
          <li key={child.id} className="flex min-w-0 items-baseline gap-2">
            <button
              type="button"
              onClick={() => setSearch({ event: child.id })}
              className="shrink-0 text-accent hover:underline"
            >
              {child.title}
            </button>
            <span className="min-w-0 truncate text-muted">{child.note}</span>
          </li>
        ))}
      </ul>
    </Part>
  );
}

/** A node of a workflow inside this one: its own page has its definition. */
function OtherNode({ row }: { row: Row }) {
  const event = find(row, "node");
  if (!event) return null;
  return (
    <>
      <Part title="Node">
        <Facts
          of={[
            ["Kind", event.kind],
            ["State", event.state],
            ["Tries", event.attempt],
            ["Skipped", event.reason],
          ]}
        />
      </Part>
      {event.failure && (
        <Part title="Why it failed">
          <p className="break-words whitespace-pre-wrap text-red">{event.failure.message}</p>
        </Part>
      )}
      {row.tally && row.children.length > 0 && <NodeItems row={row} />}
      {event.output !== undefined && (
        <Part title="Output">
          <JsonView value={event.output} label={`Output of ${row.title}`} />
        </Part>
      )}
    </>
  );
}

function SubagentDetail({ row }: { row: Row }) {
  const event = find(row, "subagent");
  if (!event) return null;
  return (
    <Part title={row.title}>
      <Facts
        of={[
          [
            "Run",
            <RunLink key="r" id={event.child_run_id}>
              {event.child_run_id}
            </RunLink>,
          ],
          ["State", event.status ?? event.state],
          ["Used", row.note],
        ]}
      />
    </Part>
  );
}

/** Kinds with few fields: those, and what they hold in full. */
function PlainDetail({ row, log }: { row: Row; log: RunLog }) {
  const event = row.events[0];
  if (!event) return null;
  switch (event.type) {
    case "plan":
      return (
        <Part title="Steps">
          <ol className="list-decimal pl-5">
            {event.plan?.steps.map((step, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a plan is written once
              <li key={at} className="mb-1">
                {step.title}
                {step.detail && <p className="text-sm text-muted">{step.detail}</p>}
              </li>
            ))}
          </ol>
          {event.failure && <p className="text-red">{event.failure.message}</p>}
        </Part>
      );
    case "artifact":
      return (
        <Part title="Artifact">
          <Facts
            of={[
              ["File", <ArtifactLink key="a" id={event.artifact_id} />],
              ["Type", event.media_type],
              ["Size", <Bytes key="b" value={event.bytes} />],
              ["Of", event.call_id !== null && log.waterfall.rowOfCall(event.call_id)?.title],
            ]}
          />
        </Part>
      );
    case "message_injected":
      return (
        <Part title="Message">
          {event.parts ? (
            <JsonView value={event.parts} label="Message" />
          ) : (
            <p>Its content is not kept: {event.tokens} tokens.</p>
          )}
        </Part>
      );
    default:
      return (
        <Part title={row.title}>
          <p className="break-words whitespace-pre-wrap">{row.note || "Nothing more is known."}</p>
          {event.type === "error" && event.failure.details && (
            <JsonView value={event.failure.details} label="Details" className="mt-2" />
          )}
        </Part>
      );
  }
}
