import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { client } from "../../api.ts";
import { useKeys } from "../../keys/use-keys.ts";
import { one, useSearchState } from "../../search.ts";
import { useApprovalChanges } from "../../shell/approval-changes.ts";
import { InboxIcon, PlaygroundIcon } from "../../ui/icons.tsx";
import { NewRowsBar } from "../../ui/new-rows-bar.tsx";
import { Page } from "../../ui/page.tsx";
import { QueryState } from "../../ui/query-state.tsx";
import { Empty, Loading } from "../../ui/states.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { type Approval, questionOf } from "./approval.ts";
import { ApprovalPane } from "./approval-pane.tsx";
import { heldApprovals, neighbour, nextOpen } from "./held-approvals.ts";
import { History } from "./history.tsx";
import { NotifySwitch } from "./notify-switch.tsx";
import { Rules } from "./rules.tsx";
import { WaitingList } from "./waiting-list.tsx";

const TABS = ["waiting", "history", "rules"] as const;
type TabName = (typeof TABS)[number];

/** More wait behind these; they come as these are decided. */
const MOST = 200;

/** What must I decide? The list and the one that is open, side by side where there is room. */
export function Inbox({ id }: { id: string | undefined }) {
  const [search, setSearch] = useSearchState();
  const wide = useIsWide();
  const navigate = useNavigate();
  const tab: TabName = TABS.find((name) => name === one(search, "tab")) ?? "waiting";
  const beside = tab === "waiting" && wide;
  const query = useQuery({
    queryKey: ["approvals", "waiting"],
    queryFn: ({ signal }) => client.listApprovals({ query: { state: "pending", limit: MOST } }, { signal }),
  });
  const held = useHeld(query.data?.items, id);
  const rows = held.rows;

  const go = (to: string | undefined) => {
    if (to !== undefined) void navigate({ to: "/inbox/$id", params: { id: to }, replace: id !== undefined });
  };
  const first = rows[0]?.id;
  useEffect(() => {
    // Where there is room for one, it is open from the start.
    if (beside && id === undefined && first !== undefined)
      void navigate({ to: "/inbox/$id", params: { id: first }, replace: true });
  }, [beside, id, first, navigate]);

  const opened = rows.find((row) => row.id === id);
  const inList = tab === "waiting";
  useKeys("Inbox", [
    { keys: "j", what: "Next", run: () => go(neighbour(rows, id, 1)), repeat: true, enabled: inList },
    { keys: "k", what: "Previous", run: () => go(neighbour(rows, id, -1)), repeat: true, enabled: inList },
    ...(held.waiting > 0 ? [{ keys: "n", what: "Show new ones", run: held.showNew }] : []),
  ]);

  const pane = id !== undefined && (
    <ApprovalPane
      id={id}
      next={nextOpen(rows, id)}
      back={!beside && <Back tab={tab} waiting={held.waiting} />}
    />
  );
  if (pane && !beside) return <div className="mx-auto h-full min-h-0 max-w-240">{pane}</div>;

  const open = (to: TabName) => {
    // The other tabs are lists of their own; what was open belongs to this one.
    if (id === undefined) setSearch({ tab: to === "waiting" ? undefined : to }, { push: true });
    else void navigate({ to: "/inbox", search: (to === "waiting" ? {} : { tab: to }) as never });
  };
  const waiting = (
    <QueryState query={query} what="Approvals" loading={<Loading count={6} />}>
      {({ next }) =>
        rows.length === 0 && !pane ? (
          <NothingWaits />
        ) : (
          <div className="flex h-full min-h-0">
            <div
              {...held.list}
              className="min-h-0 w-full min-w-0 overflow-y-auto lg:w-88 lg:shrink-0 lg:border-r lg:border-line"
            >
              <NewRowsBar count={held.waiting} one="approval" onShow={held.showNew} />
              {rows.length === 0 ? (
                <p className="p-3 text-muted">Nothing waits for you.</p>
              ) : (
                <WaitingList rows={rows} selected={id} />
              )}
              {next !== null && <p className="p-3 text-xs text-muted">The oldest {MOST} are shown.</p>}
            </div>
            {beside && <div className="min-h-0 min-w-0 flex-1">{pane || <PickOne />}</div>}
          </div>
        )
      }
    </QueryState>
  );
  return (
    <Page title={opened ? questionOf(opened) : "Inbox"} heading="Inbox" fill actions={<NotifySwitch />}>
      <Tabs
        aria-label="Approvals"
        value={tab}
        onChange={open}
        className="min-h-0 flex-1 [&>[role=tabpanel]]:overflow-y-auto [&>[role=tabpanel]]:pt-0"
        tabs={[
          { value: "waiting", label: "Waiting", content: waiting },
          { value: "history", label: "History", content: <History /> },
          { value: "rules", label: "Remembered rules", content: <Rules /> },
        ]}
      />
    </Page>
  );
}

function PickOne() {
  return <p className="p-5 text-muted">Choose one to see its arguments and why it was asked.</p>;
}

function Back({ tab, waiting }: { tab: TabName; waiting: number }): ReactNode {
  const history = tab === "history";
  return (
    <nav aria-label="Back" className="flex h-10 shrink-0 items-center gap-3 border-b border-line px-4">
      <Link
        to="/inbox"
        // The router types the search of each route; ours is plain everywhere.
        search={(history ? { tab: "history" } : {}) as never}
        className="inline-flex h-full items-center text-accent"
      >
        {history ? "← History" : "← Inbox"}
      </Link>
      {waiting > 0 && <span className="text-sm text-muted">{waiting} new</span>}
    </nav>
  );
}

function NothingWaits() {
  return (
    <Empty
      icon={InboxIcon}
      title="Nothing waits for you"
      action={
        <Link
          to="/playground"
          className="inline-flex h-8 items-center gap-1.5 rounded-md border border-control px-3 font-medium hover:bg-sunken coarse:h-10"
        >
          <PlaygroundIcon />
          Open the playground
        </Link>
      }
      code={'hitl_tools: ["deploy_service"]'}
    >
      Calls of gated tools stop here until somebody decides, and so do calls that a rail asks about. An agent
      names its gated tools like this.
    </Empty>
  );
}

/** The rows as the page may show them: see `heldApprovals`. */
function useHeld(live: readonly Approval[] | undefined, selected: string | undefined) {
  const changes = useApprovalChanges();
  const [shown, setShown] = useState<readonly string[]>([]);
  const [inside, setInside] = useState(false);
  const before = useRef<ReadonlyMap<string, Approval>>(new Map());
  const held = heldApprovals(shown, live ?? [], changes, before.current, (id) => inside || id === selected);
  const ids = held.rows.map(({ id }) => id);
  if (live !== undefined && ids.join("\n") !== shown.join("\n")) setShown(ids);
  useEffect(() => {
    before.current = new Map(held.rows.map((row) => [row.id, row]));
  });
  return {
    rows: held.rows,
    waiting: held.waiting.length,
    showNew: () => setShown([...ids, ...held.waiting]),
    list: {
      onPointerEnter: () => setInside(true),
      onPointerLeave: () => setInside(false),
      onFocus: () => setInside(true),
      onBlur: () => setInside(false),
    },
  };
}

const WIDE = "(min-width: 1024px)";

function useIsWide(): boolean {
  return useSyncExternalStore(
    (listener) => {
      const media = matchMedia(WIDE);
      media.addEventListener("change", listener);
      return () => media.removeEventListener("change", listener);
    },
    () => matchMedia(WIDE).matches,
    () => true,
  );
}
