import { memo, type ReactNode, useEffect, useId, useState } from "react";
import { client } from "../../api.ts";
import { formatCount } from "../../format/number.ts";
import { cx } from "../../ui/class-names.ts";
import { CodeBlock } from "../../ui/code-block.tsx";
import { ChevronDownIcon, ChevronRightIcon, DownloadIcon, LockIcon } from "../../ui/icons.tsx";
import { JsonView } from "../../ui/json-view.tsx";
import { ProgressBar } from "../../ui/meter.tsx";
import { Duration } from "../../ui/time.tsx";
import { ApprovalCard } from "./approval-card.tsx";
import { CallMark } from "./call-mark.tsx";
import { type CallItem, callState, openQuestion } from "./items.ts";
import { Lanes } from "./lanes.tsx";
import { verdictWords } from "./notes.ts";
import type { Tree } from "./transcript.ts";

/** One call of a tool: what it was asked, how far it is, and what came of it. */
export const CallCard = memo(function CallCard({
  call,
  isOver,
  tree,
}: {
  call: CallItem;
  isOver: boolean;
  tree: Tree | undefined;
}) {
  const state = callState(call, isOver);
  const question = openQuestion(call);
  const [isOpen, setOpen] = useState(state === "waiting");
  const [showsMetadata, setShowsMetadata] = useState(false);
  const body = useId();
  useEffect(() => {
    // A question opens its evidence; it stays open afterwards, so that nothing moves under the pointer.
    if (state === "waiting") setOpen(true);
  }, [state]);
  const { result, progress } = call;
  const problem = result?.error ?? (result?.output.type === "error" ? result.output.failure.message : null);
  return (
    <section
      aria-label={`Call of ${call.tool}`}
      className={cx(
        "@container min-w-0 rounded-md border bg-canvas",
        state === "waiting" ? "border-amber" : "border-line",
      )}
    >
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={body}
        onClick={() => setOpen(!isOpen)}
        className="row flex w-full min-w-0 items-center gap-2 rounded-md px-2 text-left -outline-offset-2 hover:bg-panel coarse:h-11"
      >
        {isOpen ? (
          <ChevronDownIcon width={12} height={12} className="text-muted" />
        ) : (
          <ChevronRightIcon width={12} height={12} className="text-muted" />
        )}
        <span title={call.tool} className="max-w-full min-w-0 shrink truncate font-mono text-sm font-medium">
          {call.tool}
        </span>
        <span className="min-w-0 flex-1 truncate font-mono text-xs text-faint @max-xs:hidden">
          {isOpen ? "" : briefly(call)}
        </span>
        <span className="ml-auto text-xs text-faint @max-3xs:hidden">
          {result ? (
            <Duration ms={result.durationMs} />
          ) : (
            !isOver && state === "running" && call.at !== null && <Duration since={call.at} />
          )}
        </span>
        <CallMark state={state} />
      </button>
      {progress && !result && !isOver && (
        <div className="flex flex-col gap-1 px-3 pb-2">
          <div className="flex justify-between gap-3 text-xs text-muted">
            <span className="min-w-0 truncate">{progress.message}</span>
            <span className="whitespace-nowrap tabular-nums">
              {progress.total === null
                ? formatNumber(progress.done)
                : `${formatNumber(progress.done)} of ${formatNumber(progress.total)}`}
            </span>
          </div>
          <ProgressBar
            label={`Progress of ${call.tool}`}
            {...(progress.total !== null && { value: progress.done, total: progress.total })}
          />
        </div>
      )}
      {call.lanes.length > 0 && tree && <Lanes call={call} tree={tree} />}
      {(problem || call.verdicts.length > 0) && (
        <div className="flex flex-col gap-1 px-3 pb-2">
          {problem && (
            <p className={cx("measure text-sm break-words", state === "failed" ? "text-red" : "text-muted")}>
              {problem}
            </p>
          )}
          {call.verdicts.map((verdict, at) => (
            <p
              // biome-ignore lint/suspicious/noArrayIndexKey: what rails said stays in its order
              key={at}
              className="flex items-start gap-2 text-xs text-muted"
            >
              <LockIcon
                width={12}
                height={12}
                className={cx("mt-0.5", verdict.shadow ? "text-faint" : "text-amber")}
              />
              <span className="min-w-0 break-words">{verdictWords(verdict)}</span>
            </p>
          ))}
        </div>
      )}
      <div id={body} hidden={!isOpen} className="flex flex-col gap-3 px-3 pt-1 pb-3 hidden:hidden">
        {isOpen && (
          <>
            <Part title="Arguments">
              {call.arguments === null ? (
                <CodeBlock code={call.input || "none that could be read"} label="Arguments" wrap />
              ) : (
                <JsonView value={call.arguments} label="Arguments" open={4} />
              )}
            </Part>
            {Object.keys(call.injected).length > 0 && (
              <Part title="Said along with it">
                <dl className="grid grid-cols-[max-content_1fr] gap-x-3 text-sm">
                  {Object.entries(call.injected).map(([name, value]) => (
                    <div key={name} className="contents">
                      <dt className="font-mono text-muted">{name}</dt>
                      <dd className="min-w-0 break-words">
                        {typeof value === "string" ? value : JSON.stringify(value)}
                      </dd>
                    </div>
                  ))}
                </dl>
              </Part>
            )}
            {call.asked.map((asked) => (
              <ApprovalCard key={asked.id} asked={asked} />
            ))}
            {result && <Result call={call} />}
            {result && (
              <div>
                <button
                  type="button"
                  aria-expanded={showsMetadata}
                  onClick={() => setShowsMetadata(!showsMetadata)}
                  className="rounded-sm text-xs text-muted underline underline-offset-2 hover:text-ink"
                >
                  {showsMetadata ? "Hide metadata" : "Show metadata"}
                </button>
                {showsMetadata && <JsonView value={result.metadata} label="Metadata" className="mt-2" />}
              </div>
            )}
          </>
        )}
      </div>
      {!isOpen && question && (
        <div className="px-3 pb-3">
          <ApprovalCard asked={question} />
        </div>
      )}
    </section>
  );
});

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <h4 className="mb-1 text-xs font-medium text-muted">{title}</h4>
      {children}
    </div>
  );
}

function Result({ call: { result, tool } }: { call: CallItem }) {
  if (!result) return null;
  const { output, metadata } = result;
  const artifact = metadata.offloaded_artifact_id;
  return (
    <Part title="Result">
      {output.type === "json" && <JsonView value={output.value} label={`Result of ${tool}`} />}
      {output.type === "text" && <CodeBlock code={output.value} label={`Result of ${tool}`} wrap />}
      {output.type === "error" && <JsonView value={output.failure} label={`Failure of ${tool}`} />}
      {artifact && (
        <a
          href={client.url("readArtifact", { params: { id: artifact } })}
          download
          className="mt-2 inline-flex items-center gap-1.5 rounded-sm text-sm text-accent underline underline-offset-2"
        >
          <DownloadIcon /> Download the whole result
        </a>
      )}
    </Part>
  );
}

const formatNumber = (value: number) => (Number.isInteger(value) ? formatCount(value) : value.toFixed(1));

/** The arguments in a line: what tells one call from the next. The whole of them is a press away. */
function briefly({ arguments: args, input }: CallItem): string {
  if (args === null) return input.split(/\s+/).join(" ");
  return Object.entries(args)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join("  ");
}
