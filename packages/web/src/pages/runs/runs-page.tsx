import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { client } from "../../api.ts";
import { useKeys } from "../../keys/use-keys.ts";
import { useSearchState } from "../../search.ts";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { useHeldRows } from "../../ui/held-rows.ts";
import { RunsIcon } from "../../ui/icons.tsx";
import { NewRowsBar } from "../../ui/new-rows-bar.tsx";
import { Tokens } from "../../ui/numbers.tsx";
import { Page } from "../../ui/page.tsx";
import { QueryState } from "../../ui/query-state.tsx";
import { Empty } from "../../ui/states.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Duration, Time } from "../../ui/time.tsx";
import { Cost } from "./cost.tsx";
import { asCurl } from "./curl.ts";
import { isNarrowed, queryOf, readFilters } from "./filters.ts";
import { RunFilters } from "./run-filters.tsx";
import { inputWords, useInputs } from "./run-inputs.ts";
import type { RunRecord } from "./types.ts";
import { STATUS_OF, shortId } from "./words.ts";

const PAGE = 50;
const REFRESH_MS = 5_000;

export function RunsPage() {
  const [search, setSearch] = useSearchState();
  const filters = readFilters(search);
  const asked = JSON.stringify(filters);
  const query = useQuery({
    queryKey: ["runs", "list", asked],
    queryFn: ({ signal }) => client.listRuns({ query: queryOf(filters, Date.now(), PAGE) }, { signal }),
    // Older pages do not change but in their rows, which are opened to be read.
    refetchInterval: filters.after === undefined ? REFRESH_MS : false,
    placeholderData: keepPreviousData,
  });
  const held = useHeldRows(query.data?.items, ({ id }) => id, query.isPlaceholderData ? "before" : asked);
  return (
    <Page
      title="Runs"
      actions={
        <CopyButton
          labelled
          size="normal"
          label="Copy as curl"
          text={() =>
            asCurl(
              new URL(client.url("listRuns", { query: queryOf(filters, Date.now(), PAGE) }), location.href)
                .href,
            )
          }
        />
      }
    >
      <RunFilters filters={filters} set={(patch) => setSearch({ after: undefined, ...patch })} />
      <QueryState query={query} what="Runs">
        {(data) =>
          data.items.length === 0 && held.rows.length === 0 ? (
            <NoRuns
              narrowed={isNarrowed(filters)}
              older={filters.after !== undefined}
              clear={() => setSearch(CLEARED)}
            />
          ) : (
            <div
              {...held.list}
              aria-busy={query.isPlaceholderData}
              className={query.isPlaceholderData ? "opacity-60" : undefined}
            >
              <NewRowsBar count={held.waiting} one="run" onShow={held.showNew} />
              <RunTable rows={held.rows} />
              <Paging
                next={data.next}
                isFirst={filters.after === undefined}
                older={() => setSearch({ after: data.next ?? undefined }, { push: true })}
                newest={() => setSearch({ after: undefined }, { push: true })}
              />
            </div>
          )
        }
      </QueryState>
    </Page>
  );
}

const CLEARED = {
  status: undefined,
  kind: undefined,
  agent: undefined,
  range: undefined,
  from: undefined,
  to: undefined,
  search: undefined,
  conversation: undefined,
  after: undefined,
};

function RunTable({ rows }: { rows: readonly RunRecord[] }) {
  const navigate = useNavigate();
  const inputs = useInputs(rows.map(({ id }) => id));
  return (
    <Table
      label="Runs"
      columns={columnsOf(inputs)}
      rows={rows}
      rowKey={({ id }) => id}
      onOpen={({ id }) => void navigate({ to: "/runs/$id", params: { id } })}
    />
  );
}

function columnsOf(inputs: ReadonlyMap<string, string>): readonly Column<RunRecord>[] {
  return [
    {
      id: "status",
      head: "Status",
      width: "136px",
      cell: ({ status }) => (
        <StatusBadge status={STATUS_OF[status]} {...(status === "queued" && { title: "Queued" })} />
      ),
    },
    {
      id: "run",
      head: "Run",
      cell: (run) =>
        run.kind === "workflow" ? (
          <WorkflowRun run={run} input={inputs.get(run.id)} />
        ) : (
          <Link to="/runs/$id" params={{ id: run.id }} className="flex min-w-0 items-baseline gap-2">
            <span className="shrink-0 font-medium max-md:max-w-full max-md:truncate">{run.agent}</span>
            <span className="min-w-0 truncate text-muted max-md:hidden">
              {inputs.get(run.id) ?? <ShortId id={run.id} />}
            </span>
          </Link>
        ),
    },
    {
      id: "kind",
      head: "Kind",
      width: "88px",
      hideOnPhone: true,
      cell: ({ kind }) => <span className="text-muted">{KIND_WORDS[kind]}</span>,
    },
    {
      id: "started",
      head: "Started",
      width: "104px",
      align: "right",
      cell: ({ created_at }) => <Time at={created_at} className="text-muted" />,
    },
    {
      id: "duration",
      head: "Duration",
      width: "112px",
      align: "right",
      hideOnPhone: true,
      cell: (run) =>
        run.ended_at === null ? (
          <Duration since={run.created_at} />
        ) : (
          <Duration ms={run.ended_at - run.created_at} />
        ),
    },
    {
      id: "steps",
      head: "Steps",
      width: "64px",
      align: "right",
      hideOnPhone: true,
      // A workflow has nodes: their number is on its page.
      cell: ({ kind, steps }) => (kind === "workflow" ? "" : steps),
    },
    {
      id: "tokens",
      head: "Tokens",
      width: "80px",
      align: "right",
      hideOnPhone: true,
      cell: ({ usage }) => <Tokens value={usage.input_tokens + usage.output_tokens} unit={false} />,
    },
    {
      id: "cost",
      head: "Cost",
      width: "80px",
      align: "right",
      hideOnPhone: true,
      cell: ({ usage }) => <Cost value={usage.cost} />,
    },
  ];
}

const KIND_WORDS: Record<RunRecord["kind"], string> = { agent: "Agent", workflow: "Workflow" };

function ShortId({ id }: { id: string }) {
  return <span className="font-mono text-sm text-faint">{shortId(id)}</span>;
}

/** Its name leads to the workflow, what it was given to the run. A thumb gets the run either way. */
function WorkflowRun({ run, input }: { run: RunRecord; input: string | undefined }) {
  return (
    <span className="flex min-w-0 items-baseline gap-2">
      <Link
        to="/workflows/$name"
        params={{ name: run.agent }}
        title={`Open the workflow ${run.agent}`}
        className="shrink-0 font-medium hover:underline max-md:hidden"
      >
        {run.agent}
      </Link>
      <Link
        to="/runs/$id"
        params={{ id: run.id }}
        className="min-w-0 truncate max-md:font-medium md:text-muted"
      >
        <span className="md:hidden">{run.agent}</span>
        <span className="max-md:hidden">
          {input === undefined ? <ShortId id={run.id} /> : inputWords(input) || "no input"}
        </span>
      </Link>
    </span>
  );
}

function Paging(props: { next: string | null; isFirst: boolean; older(): void; newest(): void }) {
  const { next, isFirst, older, newest } = props;
  useKeys("Runs", [
    { keys: "n", what: "Older runs", run: older, enabled: next !== null },
    { keys: "p", what: "Newest runs", run: newest, enabled: !isFirst },
  ]);
  if (next === null && isFirst) return null;
  return (
    <nav aria-label="Pages" className="flex justify-end gap-2 border-t border-line py-3">
      <Button disabled={isFirst} onClick={newest}>
        Newest
      </Button>
      <Button disabled={next === null} onClick={older}>
        Older
      </Button>
    </nav>
  );
}

function NoRuns({ narrowed, older, clear }: { narrowed: boolean; older: boolean; clear(): void }) {
  const [origin, setOrigin] = useState("");
  useEffect(() => setOrigin(location.origin), []);
  if (narrowed || older)
    return (
      <Empty title="No runs here" icon={RunsIcon} action={<Button onClick={clear}>Show all runs</Button>}>
        {narrowed ? "None that fit these filters." : "There are none older than that."}
      </Empty>
    );
  return (
    <Empty
      title="No runs yet"
      icon={RunsIcon}
      action={
        <Link
          to="/playground"
          className="inline-flex h-8 items-center rounded-md bg-accent-fill px-3 font-medium text-on-accent coarse:h-10"
        >
          Open the playground
        </Link>
      }
      code={asCurl(`${origin}/api/v1/runs`, { method: "POST", body: { agent: "clerk", input: "Hello" } })}
    >
      A run is one turn of an agent, from what it was asked to what it answered, or one workflow from its
      input to its output, with everything it did.
    </Empty>
  );
}
