import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { client } from "../../api.ts";
import { formatBytes, formatCount, formatShort } from "../../format/number.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { DownloadIcon, SpinnerIcon } from "../../ui/icons.tsx";
import { Meter } from "../../ui/meter.tsx";
import { Money } from "../../ui/numbers.tsx";
import { type RunStatus, RunStatusBadge } from "../../ui/run-status.tsx";
import { Duration } from "../../ui/time.tsx";
import { isOver, type RunView } from "./transcript.ts";

/** The plan, the meters and the facts of the last run: beside the transcript, never in it. */
export function SidePanel({
  run,
  window,
  conversation,
}: {
  run: RunView | undefined;
  /** Tokens that the model's context holds; unknown for some models. */
  window: number | null;
  conversation: string | undefined;
}) {
  return (
    <div className="flex flex-col gap-5 text-sm">
      {run ? (
        <>
          <RunFacts run={run} />
          <PlanList run={run} />
          <Meters run={run} window={window} />
        </>
      ) : (
        <p className="text-muted">The plan, tokens and cost of a run appear here once it begins.</p>
      )}
      {conversation !== undefined && <Artifacts conversation={conversation} />}
    </div>
  );
}

function Section({ title, aside, children }: { title: string; aside?: ReactNode; children: ReactNode }) {
  return (
    <section className="min-w-0">
      <div className="mb-1 flex min-h-6 items-center justify-between gap-2">
        <h2 className="text-xs font-medium text-muted">{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  );
}

function statusOf(run: RunView): RunStatus {
  return run.state === "starting" ? "running" : run.state;
}

function RunFacts({ run }: { run: RunView }) {
  return (
    <Section
      title="Run"
      aside={
        <Link to="/runs/$id" params={{ id: run.id }} className="rounded-sm text-xs text-accent underline">
          Open the run
        </Link>
      }
    >
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <RunStatusBadge status={statusOf(run)} />
        {run.step > 0 && <span className="text-muted">step {formatCount(run.step)}</span>}
        {run.startedAt !== null && (
          <span className="text-muted">
            {run.endedAt === null ? (
              <Duration since={run.startedAt} />
            ) : (
              <Duration ms={run.endedAt - run.startedAt} />
            )}
          </span>
        )}
      </div>
      <p className="mt-1 flex items-center gap-1 font-mono text-xs text-faint">
        <span className="min-w-0 truncate" title={run.id}>
          {run.id}
        </span>
        <CopyButton text={run.id} label="Copy run id" />
      </p>
    </Section>
  );
}

function PlanList({ run }: { run: RunView }) {
  if (run.isPlanning)
    return (
      <Section title="Plan">
        <p className="flex items-center gap-2 text-muted">
          <SpinnerIcon className="spin" /> Planning
        </p>
      </Section>
    );
  if (run.planFailure)
    return (
      <Section title="Plan">
        <p className="break-words text-muted">No plan: {run.planFailure.message}</p>
      </Section>
    );
  if (!run.plan) return null;
  return (
    <Section title="Plan">
      <ol className="flex flex-col gap-2">
        {run.plan.steps.map((step, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: steps of a plan never change places
          <li key={at} className="flex gap-2">
            <span className="w-4 shrink-0 text-right text-faint">{at + 1}</span>
            <span className="min-w-0 break-words">
              {step.title}
              {step.detail && <span className="block text-xs text-muted">{step.detail}</span>}
            </span>
          </li>
        ))}
      </ol>
    </Section>
  );
}

function Meters({ run, window }: { run: RunView; window: number | null }) {
  const { usage, contextTokens, compactions } = run;
  return (
    <Section title={isOver(run) ? "Used" : "Used so far"}>
      <dl className="grid grid-cols-[1fr_max-content] gap-y-1">
        <Figure name="Input tokens" title="Everything the model read">
          {formatCount(usage?.input_tokens ?? 0)}
        </Figure>
        {usage !== null && usage.cached_input_tokens > 0 && (
          <Figure name="of it cached">{formatCount(usage.cached_input_tokens)}</Figure>
        )}
        <Figure name="Output tokens" title="Everything the model wrote">
          {formatCount(usage?.output_tokens ?? 0)}
        </Figure>
        <Figure name="Model calls">{formatCount(usage?.model_calls ?? 0)}</Figure>
        <Figure name="Cost">
          {usage?.cost == null ? (
            <span className="text-faint" title="No price is known for one of its models">
              not priced
            </span>
          ) : (
            <Money value={usage.cost} />
          )}
        </Figure>
      </dl>
      {window === null ? (
        <p className="mt-3 text-xs text-muted">
          Context {formatShort(contextTokens ?? 0)} tokens; the model's window is not known.
        </p>
      ) : (
        <Meter
          className="mt-3"
          label="Context"
          value={contextTokens ?? 0}
          max={window}
          text={`${formatShort(contextTokens ?? 0)} of ${formatShort(window)} tokens`}
          marks={[...new Set(compactions.map(({ before }) => Math.min(1, before / window)))]}
        />
      )}
      {compactions.length > 0 && (
        <ul className="mt-2 flex flex-col gap-1 text-xs text-muted">
          {compactions.map(({ seq, action, before, after, detail }) => (
            <li key={seq} title={detail} className="flex justify-between gap-2">
              <span>{action}</span>
              <span className="tabular-nums">
                {formatShort(before)} → {formatShort(after)}
              </span>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function Figure({ name, title, children }: { name: string; title?: string; children: ReactNode }) {
  return (
    <>
      <dt title={title} className="text-muted">
        {name}
      </dt>
      <dd className="text-right tabular-nums">{children}</dd>
    </>
  );
}

function Artifacts({ conversation }: { conversation: string }) {
  const { data } = useQuery({
    queryKey: ["playground", "artifacts", conversation],
    queryFn: ({ signal }) => client.listArtifacts({ query: { conversation, limit: 100 } }, { signal }),
  });
  if (!data || data.items.length === 0) return null;
  return (
    <Section title="Artifacts">
      <ul className="flex flex-col">
        {data.items.map(({ id, media_type, bytes }) => (
          <li key={id}>
            <a
              href={client.url("readArtifact", { params: { id } })}
              download
              className="row flex items-center gap-2 rounded-md px-1 hover:bg-panel"
            >
              <DownloadIcon className="text-muted" />
              <span className="min-w-0 flex-1 truncate">{media_type}</span>
              <span className="text-xs text-faint tabular-nums">{formatBytes(bytes)}</span>
            </a>
          </li>
        ))}
      </ul>
    </Section>
  );
}
