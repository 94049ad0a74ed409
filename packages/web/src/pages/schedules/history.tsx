import { useInfiniteQuery } from "@tanstack/react-query";
import { client } from "../../api.ts";
import { Button } from "../../ui/button.tsx";
import { ClockIcon } from "../../ui/icons.tsx";
import { QueryState } from "../../ui/query-state.tsx";
import { Empty } from "../../ui/states.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { FiringState } from "./firing-state.tsx";
import { type Firing, type Schedule, timeIn } from "./schedule.ts";

/** When it was due, and what came of it. */
export function History({ schedule: { id, name, trigger, target } }: { schedule: Schedule }) {
  const query = useInfiniteQuery({
    queryKey: ["schedules", "firings", id],
    queryFn: ({ pageParam, signal }) =>
      client.listFirings(
        { params: { id }, query: { limit: 50, ...(pageParam && { after: pageParam }) } },
        { signal },
      ),
    initialPageParam: "",
    getNextPageParam: ({ next }) => next,
    refetchInterval: 5_000,
  });
  const zone = trigger.kind === "cron" ? trigger.time_zone : undefined;
  return (
    <QueryState query={query} what="The history">
      {({ pages }) => {
        const rows = pages.flatMap(({ items }) => items);
        if (rows.length === 0)
          return (
            <Empty title="It has not fired yet" icon={ClockIcon}>
              Every time it is due is listed here, with its run or why there is none.
            </Empty>
          );
        return (
          <>
            <Table
              label={`History of ${name}`}
              columns={columnsOf(target, zone)}
              rows={rows}
              rowKey={({ key }) => key}
              className="max-md:hidden"
            />
            <ul aria-label={`History of ${name}`} className="md:hidden">
              {rows.map((firing) => (
                <li key={firing.key} className="border-t border-line py-2">
                  <span className="flex flex-wrap items-center justify-between gap-2">
                    <FiringState firing={firing} target={target} />
                    <span className="text-sm text-muted">
                      <Time at={firing.scheduled_for} /> by {causeOf(firing)}
                    </span>
                  </span>
                  {firing.reason && <span className="mt-1 block text-sm break-words">{firing.reason}</span>}
                </li>
              ))}
            </ul>
            {query.hasNextPage && (
              <Button
                className="mt-2"
                pending={query.isFetchingNextPage}
                onClick={() => void query.fetchNextPage()}
              >
                Show more
              </Button>
            )}
          </>
        );
      }}
    </QueryState>
  );
}

/** By whom or what. */
function causeOf({ cause, by }: Firing): string {
  if (cause === "person") return by;
  return cause === "time" ? "the clock" : "a webhook";
}

function columnsOf(target: Schedule["target"], zone: string | undefined): readonly Column<Firing>[] {
  return [
    {
      id: "for",
      head: "Due",
      width: "112px",
      cell: ({ scheduled_for }) => (
        <span title={zone === undefined ? undefined : timeIn(zone, scheduled_for)}>
          <Time at={scheduled_for} />
        </span>
      ),
    },
    {
      id: "state",
      head: "What came of it",
      width: "148px",
      cell: (firing) => <FiringState firing={firing} target={target} />,
    },
    { id: "cause", head: "By", width: "104px", hideOnPhone: true, cell: causeOf },
    {
      id: "reason",
      head: "Why",
      hideOnPhone: true,
      cell: ({ reason }) => (
        <span className="text-muted" title={reason ?? undefined}>
          {reason ?? ""}
        </span>
      ),
    },
  ];
}
