import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Answer } from "@trackside/server/client";
import { type ReactNode, useState } from "react";
import { client } from "../../api.ts";
import { formatDuration } from "../../format/duration.ts";
import { formatMoney, formatShort } from "../../format/number.ts";
import { exactTime } from "../../format/time.ts";
import { useSearchState } from "../../search.ts";
import { Button } from "../../ui/button.tsx";
import { Money, Share, Tokens } from "../../ui/numbers.tsx";
import { Page } from "../../ui/page.tsx";
import { Plot } from "../../ui/plot.tsx";
import { QueryState } from "../../ui/query-state.tsx";
import { RunStatusBadge } from "../../ui/run-status.tsx";
import { SegmentedControl } from "../../ui/segmented-control.tsx";
import { Empty, Loading } from "../../ui/states.tsx";
import { Tag } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { totalsOf, verdictNames, verdictOfNow } from "./figures.ts";
import { PRESETS, type Preset, presetOf, rangeOf } from "./range.ts";

const BUCKETS = 60;
const REFRESH_MS = 15_000;

/** Is anything wrong? */
export function OverviewPage() {
  const [search, setSearch] = useSearchState();
  const [now, setNow] = useState(() => Date.now());
  const preset = presetOf(search);
  const query = useQuery({
    queryKey: ["stats", search["range"], search["from"], search["to"]],
    queryFn: async () => {
      const range = rangeOf(search, Date.now());
      setNow(range.to);
      return client.stats({ query: { ...range, buckets: BUCKETS } });
    },
    // A range of the past does not change any more.
    refetchInterval: preset === undefined ? false : REFRESH_MS,
    placeholderData: keepPreviousData,
  });
  const range = rangeOf(search, now);
  return (
    <Page
      title="Overview"
      lead={query.data && <Verdict stats={query.data} />}
      actions={
        <>
          {preset === undefined && (
            <Button
              onClick={() => setSearch({ from: undefined, to: undefined })}
              title={`${exactTime(range.from)} to ${exactTime(range.to)}`}
            >
              Leave the chosen range
            </Button>
          )}
          <SegmentedControl<Preset | "own">
            aria-label="Time range"
            value={preset ?? "own"}
            onChange={(value) => setSearch({ range: value, from: undefined, to: undefined }, { push: true })}
            options={PRESETS.map(({ value, label }) => ({ value, label }))}
          />
        </>
      }
    >
      <QueryState query={query} what="Figures" loading={<Loading shape="plot" />}>
        {(stats) => (
          <Figures
            stats={stats}
            range={range}
            onSelect={(from, to) => setSearch({ from, to }, { push: true })}
          />
        )}
      </QueryState>
    </Page>
  );
}

function Verdict({ stats }: { stats: Answer<"stats"> }) {
  return <p role="status">{verdictOfNow(stats, totalsOf(stats.buckets).errors)}</p>;
}

interface FiguresProps {
  stats: Answer<"stats">;
  range: { from: number; to: number };
  onSelect(from: number, to: number): void;
}

function Figures({ stats, range, onSelect }: FiguresProps) {
  const { buckets, now } = stats;
  const totals = totalsOf(buckets);
  const isEmpty = totals.runs === 0 && now.running + now.waiting + now.parked === 0;
  return (
    <div className="flex flex-col gap-6">
      <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line sm:grid-cols-4 lg:grid-cols-8">
        <Figure label="Running" to="/runs" search={{ status: ["running", "queued"] }}>
          {now.running}
        </Figure>
        <Figure label="Waiting for you" to="/inbox" loud={now.pending_approvals > 0 ? "amber" : undefined}>
          {now.pending_approvals}
        </Figure>
        <Figure
          label="Parked"
          to="/runs"
          search={{ status: "parked" }}
          loud={now.parked > 0 ? "red" : undefined}
        >
          {now.parked}
        </Figure>
        <Figure label="Runs that ended" to="/runs" search={{ from: range.from, to: range.to }}>
          {totals.runs}
        </Figure>
        <Figure
          label="Failed"
          to="/runs"
          search={{ status: "error", from: range.from, to: range.to }}
          loud={totals.errors > 0 ? "red" : undefined}
        >
          {totals.errorRate === null ? "–" : <Share value={totals.errorRate} />}
        </Figure>
        <Figure label="Tokens">
          <Tokens value={totals.tokens} unit={false} />
        </Figure>
        <Figure label="Cost">{totals.cost === null ? "unpriced" : <Money value={totals.cost} />}</Figure>
        <Figure label="Verdicts of rails">{totals.verdicts}</Figure>
      </dl>
      {isEmpty ? (
        <Empty
          title="No runs in this time"
          action={
            <Link to="/playground" className="text-accent underline">
              Talk to an agent
            </Link>
          }
          code={'trackside run clerk "Refund order 17"'}
        >
          Runs of agents and workflows, their tokens, cost and latency, and what rails said appear here as
          they happen.
        </Empty>
      ) : (
        <Plots buckets={buckets} onSelect={onSelect} />
      )}
      <Failures range={range} />
    </div>
  );
}

interface FigureProps {
  label: string;
  to?: "/runs" | "/inbox";
  search?: Record<string, string | number | string[]>;
  /** Something to look at. */
  loud?: "red" | "amber" | undefined;
  children: ReactNode;
}

function Figure({ label, to, search, loud, children }: FigureProps) {
  const colour = loud === "red" ? "text-red" : loud === "amber" ? "text-amber" : "text-ink";
  return (
    <div className="flex min-w-0 flex-col-reverse justify-end bg-panel px-3 py-2">
      <dt className="text-xs text-muted">{label}</dt>
      <dd className={`text-xl font-semibold tabular-nums ${colour}`}>
        {to === undefined ? (
          children
        ) : (
          <Link to={to} search={search as never} className="hover:underline">
            {children}
            <span className="sr-only"> {label}</span>
          </Link>
        )}
      </dd>
    </div>
  );
}

function Plots({ buckets, onSelect }: Pick<FiguresProps, "onSelect"> & Pick<Answer<"stats">, "buckets">) {
  const times = buckets.map(({ from }) => from);
  const all = { times, onSelect };
  return (
    <div className="grid gap-x-8 gap-y-6 lg:grid-cols-2">
      <Plot
        {...all}
        title="Runs"
        unit="that ended"
        format={whole}
        series={[
          { id: "completed", label: "Done", values: buckets.map((one) => one.completed), colour: "green" },
          { id: "errors", label: "Failed", values: buckets.map((one) => one.errors), colour: "red" },
          { id: "cancelled", label: "Stopped", values: buckets.map((one) => one.cancelled) },
        ]}
      />
      <Plot
        {...all}
        title="Latency"
        unit="from start to end"
        format={(value) => formatDuration(value)}
        series={[
          { id: "p50", label: "Half within", values: buckets.map((one) => one.latency_p50_ms) },
          { id: "p95", label: "95 % within", values: buckets.map((one) => one.latency_p95_ms) },
        ]}
      />
      <Plot
        {...all}
        title="Tokens"
        unit="in and out"
        format={(value) => formatShort(value)}
        series={[
          { id: "input", label: "In", values: buckets.map((one) => one.input_tokens) },
          { id: "output", label: "Out", values: buckets.map((one) => one.output_tokens) },
        ]}
      />
      <Plot
        {...all}
        title="Cost"
        unit="USD"
        format={(value) => formatMoney(value)}
        series={[{ id: "cost", label: "Cost", values: buckets.map((one) => one.cost) }]}
      />
      <Plot
        {...all}
        title="Error rate"
        unit="% of runs"
        format={(value) => String(Number(value.toFixed(1)))}
        series={[
          {
            id: "rate",
            label: "Failed",
            values: buckets.map(({ runs, errors }) => (runs === 0 ? null : (100 * errors) / runs)),
            colour: "red",
          },
        ]}
      />
      <Plot
        {...all}
        title="What rails said"
        unit="verdicts other than continue"
        format={whole}
        series={verdictNames(buckets).map((action) => ({
          id: action,
          label: action,
          values: buckets.map(({ verdicts }) => verdicts[action] ?? 0),
        }))}
      />
    </div>
  );
}

/** There is no half of a run, so the axis does not name one. */
function whole(value: number): string {
  return Number.isInteger(value) ? String(value) : "";
}

/** The list follows the range of the plots. */
function Failures({ range }: Pick<FiguresProps, "range">) {
  const query = useQuery({
    queryKey: ["runs", "failed", Math.round(range.from / REFRESH_MS), Math.round(range.to / REFRESH_MS)],
    queryFn: () =>
      client.listRuns({ query: { status: ["error", "parked"], from: range.from, to: range.to, limit: 10 } }),
    placeholderData: keepPreviousData,
  });
  if (query.data === undefined || query.data.items.length === 0) return null;
  return (
    <section aria-labelledby="failed-last">
      <h2 id="failed-last" className="pb-2 text-lg font-semibold">
        What failed last
      </h2>
      <ul className="rounded-lg border border-line">
        {query.data.items.map((run) => (
          <li key={run.id} className="border-line not-first:border-t">
            <Link
              to="/runs/$id"
              params={{ id: run.id }}
              className="row flex min-w-0 items-center gap-3 px-3 hover:bg-sunken"
            >
              <RunStatusBadge status={run.status} />
              <span className="shrink-0 font-medium">{run.agent}</span>
              {run.kind === "workflow" && (
                <span className="max-md:hidden">
                  <Tag>Workflow</Tag>
                </span>
              )}
              <span className="min-w-0 flex-1 truncate text-muted">
                {run.parked ?? (run.outcome?.status === "error" ? run.outcome.failure.message : "")}
              </span>
              <Time at={run.created_at} className="text-muted" />
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
