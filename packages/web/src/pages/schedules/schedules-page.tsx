import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { client } from "../../api.ts";
import { useKeys } from "../../keys/use-keys.ts";
import { one, useSearchState } from "../../search.ts";
import { useMay, WHO_MAY } from "../../session.ts";
import { Button } from "../../ui/button.tsx";
import { ClockIcon, PlusIcon } from "../../ui/icons.tsx";
import { Page } from "../../ui/page.tsx";
import { QueryState } from "../../ui/query-state.tsx";
import { Empty } from "../../ui/states.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { SearchField } from "../../ui/text-field.tsx";
import { Time } from "../../ui/time.tsx";
import { useDebounced } from "../agents/editor/debounced.ts";
import { EnabledSwitch } from "./enabled-switch.tsx";
import { FiringState } from "./firing-state.tsx";
import { type Schedule, timeIn, whenWords } from "./schedule.ts";

/** What starts by itself, and when next? */
export function SchedulesPage() {
  const [search, setSearch] = useSearchState();
  const wanted = one(search, "search") ?? "";
  const rested = useDebounced(wanted, 200);
  const may = useMay("operate");
  const navigate = useNavigate();
  const query = useInfiniteQuery({
    queryKey: ["schedules", "list", rested],
    queryFn: ({ pageParam, signal }) =>
      client.listSchedules(
        { query: { limit: 100, ...(rested && { search: rested }), ...(pageParam && { after: pageParam }) } },
        { signal },
      ),
    initialPageParam: "",
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
    // They fire without the page being told.
    refetchInterval: 10_000,
  });
  const create = () => void navigate({ to: "/schedules/new" });
  useKeys("Schedules", [{ keys: "c", what: "Create a schedule", run: create, enabled: may }]);
  return (
    <Page
      title="Schedules"
      actions={
        <Button
          kind="primary"
          icon={PlusIcon}
          disabled={!may}
          title={may ? undefined : `${WHO_MAY.operate} can make schedules`}
          onClick={create}
        >
          New schedule
        </Button>
      }
    >
      <SearchField
        label="Search schedules"
        value={wanted}
        onChange={(next) => setSearch({ search: next })}
        className="mb-2"
      />
      <QueryState query={query} what="Schedules">
        {({ pages }) => {
          const rows = pages.flatMap(({ items }) => items);
          if (rows.length === 0) return wanted ? <NoMatch wanted={wanted} /> : <NoSchedules may={may} />;
          return (
            <>
              <Table
                label="Schedules"
                columns={COLUMNS}
                rows={rows}
                rowKey={({ id }) => id}
                onOpen={({ id }) => void navigate({ to: "/schedules/$id", params: { id } })}
              />
              {query.hasNextPage && (
                <Button
                  className="mt-2"
                  pending={query.isFetchingNextPage}
                  onClick={() => void query.fetchNextPage()}
                >
                  Show more schedules
                </Button>
              )}
            </>
          );
        }}
      </QueryState>
    </Page>
  );
}

const COLUMNS: readonly Column<Schedule>[] = [
  {
    id: "name",
    head: "Schedule",
    cell: ({ id, name }) => (
      <Link to="/schedules/$id" params={{ id }} className="font-medium hover:underline">
        {name}
      </Link>
    ),
  },
  {
    id: "target",
    head: "Starts",
    width: "16%",
    hideOnPhone: true,
    cell: ({ target: { kind, name } }) => (
      <span title={`${kind} ${name}`}>
        <span className="text-muted">{kind}</span> {name}
      </span>
    ),
  },
  {
    id: "when",
    head: "When",
    width: "31%",
    hideOnPhone: true,
    cell: (schedule) => {
      const { trigger } = schedule;
      const title = trigger.kind === "cron" ? `${trigger.pattern} in ${trigger.time_zone}` : undefined;
      return (
        <span title={title}>
          {whenWords(schedule)}
          {trigger.kind === "cron" && <span className="text-muted"> {trigger.time_zone}</span>}
        </span>
      );
    },
  },
  {
    id: "next",
    head: "Next",
    width: "116px",
    cell: (schedule) => <Next schedule={schedule} />,
  },
  {
    id: "last",
    head: "Last",
    width: "200px",
    hideOnPhone: true,
    cell: ({ last, target }) =>
      last ? (
        <span className="flex items-center gap-2">
          <FiringState firing={last} target={target} />
          <span className="text-sm text-muted">
            <Time at={last.fired_at} />
          </span>
        </span>
      ) : (
        <span className="text-muted">never</span>
      ),
  },
  {
    id: "on",
    head: "On",
    width: "64px",
    align: "right",
    cell: (schedule) => <EnabledSwitch schedule={schedule} />,
  },
];

/** Relative, and exact in its own zone on hover. */
function Next({ schedule: { trigger, next_at, enabled } }: { schedule: Schedule }) {
  if (!enabled) return <span className="text-muted">off</span>;
  if (trigger.kind === "webhook") return <span className="text-muted">a webhook</span>;
  if (next_at === null) return <span className="text-muted">never</span>;
  return (
    <span title={timeIn(trigger.time_zone, next_at)}>
      <Time at={next_at} className="min-w-0" />
    </span>
  );
}

function NoMatch({ wanted }: { wanted: string }) {
  return (
    <Empty title={`No schedule is called like "${wanted}"`} icon={ClockIcon}>
      The search looks at names.
    </Empty>
  );
}

function NoSchedules({ may }: { may: boolean }) {
  return (
    <Empty
      title="No schedules yet"
      icon={ClockIcon}
      action={
        may && (
          <Link
            to="/schedules/new"
            className="inline-flex h-8 items-center rounded-md bg-accent-fill px-3 font-medium text-on-accent"
          >
            Create a schedule
          </Link>
        )
      }
      code={`const trigger = {
  kind: "cron", pattern: "0 7 * * 1-5", time_zone: "Europe/Berlin",
};
const target = { kind: "agent", name: "clerk" };
await trackside.schedules.create(
  { name: "morning", input: "What is new?", target, trigger },
  { by: "ann" },
);`}
    >
      A schedule starts an agent, a workflow or a plan by the clock, or when a signed webhook comes
      {may ? "" : ` (${WHO_MAY.operate.toLowerCase()} can make one)`}.
    </Empty>
  );
}
