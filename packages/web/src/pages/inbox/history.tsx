import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { client } from "../../api.ts";
import { one, useSearchState } from "../../search.ts";
import { useMe } from "../../session.ts";
import { Button } from "../../ui/button.tsx";
import { cx } from "../../ui/class-names.ts";
import { CloseIcon } from "../../ui/icons.tsx";
import { QueryState } from "../../ui/query-state.tsx";
import { SegmentedControl } from "../../ui/segmented-control.tsx";
import { Empty, Loading } from "../../ui/states.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { type Approval, isOpen, titleOf } from "./approval.ts";
import { deciderOf } from "./outcome.ts";
import { Outcome } from "./outcome-mark.tsx";

const STATES = [
  { value: "all", label: "All" },
  { value: "approved", label: "Approved" },
  { value: "rejected", label: "Rejected" },
  { value: "timed_out", label: "Timed out" },
  { value: "cancelled", label: "Cancelled" },
] as const;

/** What was decided, newest first. The filters are in the URL. */
export function History() {
  const [search, setSearch] = useSearchState();
  const navigate = useNavigate();
  const me = useMe()?.user.name;
  const state = STATES.find(({ value }) => value === one(search, "state"))?.value ?? "all";
  const run = one(search, "run");
  const query = useInfiniteQuery({
    queryKey: ["approvals", "history", state, run],
    queryFn: ({ signal, pageParam }) =>
      client.listApprovals(
        {
          query: {
            state,
            limit: 50,
            ...(run !== undefined && { tree: run }),
            ...(pageParam !== undefined && { after: pageParam }),
          },
        },
        { signal },
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
  });
  const columns: Column<Approval>[] = [
    { id: "outcome", head: "Decision", width: "116px", cell: (row) => <Outcome approval={row} by={false} /> },
    {
      id: "tool",
      head: "What",
      cell: (row) => (
        <Link
          to="/inbox/$id"
          params={{ id: row.id }}
          search={{ tab: "history" } as never} // the router types each route's search; ours is plain
          title={titleOf(row)}
          className={cx("text-sm hover:underline", row.kind !== "workflow_node" && "font-mono")}
        >
          {titleOf(row)}
        </Link>
      ),
    },
    { id: "by", head: "By", width: "120px", hideOnPhone: true, cell: (row) => deciderOf(row, me) ?? "–" },
    { id: "agent", head: "Asked by", width: "140px", hideOnPhone: true, cell: (row) => row.agent },
    {
      id: "run",
      head: "Run",
      hideOnPhone: true,
      cell: (row) => (
        <Link
          to="/runs/$id"
          params={{ id: row.run_id }}
          className="font-mono text-sm text-muted hover:underline"
        >
          {row.run_id}
        </Link>
      ),
    },
    {
      id: "reason",
      head: "Reason",
      hideOnPhone: true,
      cell: (row) => <span title={row.decision?.reason}>{row.decision?.reason}</span>,
    },
    {
      id: "at",
      head: "Decided",
      align: "right",
      width: "104px",
      cell: (row) => row.decision && <Time at={row.decision.at} className="min-w-0!" />,
    },
  ];
  return (
    <div className="flex min-w-0 flex-col gap-2 py-3">
      <div className="flex items-center gap-2 overflow-x-auto">
        <SegmentedControl
          aria-label="Decision"
          value={state}
          onChange={(next) => setSearch({ state: next === "all" ? undefined : next })}
          options={STATES}
          className="w-max shrink-0 whitespace-nowrap"
        />
        {run !== undefined && (
          <Button size="small" icon={CloseIcon} onClick={() => setSearch({ run: undefined })}>
            Run {run}
          </Button>
        )}
      </div>
      <QueryState query={query} what="Decisions" loading={<Loading />}>
        {({ pages }) => {
          const rows = pages.flatMap(({ items }) => items).filter((row) => !isOpen(row));
          if (rows.length === 0)
            return (
              <Empty
                title={state === "all" && run === undefined ? "Nothing was decided yet" : "No such decisions"}
              >
                Every decision stays here, with who made it, when and why.
              </Empty>
            );
          return (
            <>
              <Table
                label="Decisions"
                columns={columns}
                rows={rows}
                rowKey={({ id }) => id}
                onOpen={({ id }) =>
                  void navigate({ to: "/inbox/$id", params: { id }, search: { tab: "history" } as never })
                }
              />
              {query.hasNextPage && (
                <Button
                  className="self-center"
                  pending={query.isFetchingNextPage}
                  onClick={() => void query.fetchNextPage()}
                >
                  Show older ones
                </Button>
              )}
            </>
          );
        }}
      </QueryState>
    </div>
  );
}
