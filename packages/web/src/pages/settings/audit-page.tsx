import { keepPreviousData, useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import type { Answer } from "@trackside/server/client";
import { client, explain } from "../../api.ts";
import { formatCount, plural } from "../../format/number.ts";
import { one, useSearchState } from "../../search.ts";
import { useMay } from "../../session.ts";
import { Button } from "../../ui/button.tsx";
import { cx } from "../../ui/class-names.ts";
import { Drawer } from "../../ui/dialog.tsx";
import { CheckIcon, WarningIcon } from "../../ui/icons.tsx";
import { JsonView } from "../../ui/json-view.tsx";
import { Page } from "../../ui/page.tsx";
import { QueryState } from "../../ui/query-state.tsx";
import { Select } from "../../ui/select.tsx";
import { Empty } from "../../ui/states.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";

type Entry = Answer<"listAudit">["items"][number];

/** Whole kinds end in a dot, as the API has it. */
const KINDS = [
  { value: "all", label: "Everything" },
  { value: "approval.", label: "Approvals" },
  { value: "rule.", label: "Remembered decisions" },
  { value: "agent.", label: "Agents" },
  { value: "user.", label: "Users" },
  { value: "token.", label: "API tokens" },
  { value: "session.", label: "Sign-ins" },
  { value: "link.", label: "Sign-in links" },
  { value: "setup.", label: "Setup" },
  { value: "secret.", label: "Secrets" },
  { value: "provider.", label: "Providers" },
  { value: "webhook.", label: "Webhooks" },
] as const;

type Kind = (typeof KINDS)[number]["value"];

/** Who did what, and has anybody changed the record of it? */
export function AuditPage() {
  const [search, setSearch] = useSearchState();
  const given = one(search, "action") ?? "all";
  const options = KINDS.some(({ value }) => value === given)
    ? KINDS
    : [...KINDS, { value: given as Kind, label: given }];
  const action = given === "all" ? undefined : given;
  const names = useNames();
  const query = useInfiniteQuery({
    queryKey: ["audit", given],
    queryFn: ({ pageParam, signal }) =>
      client.listAudit(
        { query: { limit: 100, ...(action && { action }), ...(pageParam && { after: pageParam }) } },
        { signal },
      ),
    initialPageParam: "",
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
  });
  const columns: readonly Column<Entry>[] = [
    { id: "n", head: "No.", width: "64px", align: "right", cell: ({ n }) => formatCount(n) },
    {
      id: "action",
      head: "Action",
      width: "196px",
      cell: ({ action: done }) => <span className="font-mono text-sm">{done}</span>,
    },
    { id: "by", head: "Who", width: "18%", cell: ({ by }) => names.get(by) ?? by },
    {
      id: "about",
      head: "About",
      hideOnPhone: true,
      cell: ({ about }) => <span className="text-muted">{aboutWords(about)}</span>,
    },
    { id: "at", head: "When", width: "108px", hideOnPhone: true, cell: ({ at }) => <Time at={at} /> },
  ];
  const rows = query.data?.pages.flatMap(({ items }) => items) ?? [];
  const selected = rows.find(({ n }) => String(n) === one(search, "entry"));
  return (
    <Page
      title="Audit"
      lead="Every decision and change, chained by hashes so that nothing can be altered or left out unseen."
    >
      <div className="mb-2 flex flex-wrap items-center gap-2">
        <Select
          aria-label="Kind of action"
          value={given as Kind} // an option of the list above
          onChange={(next) => setSearch({ action: next === "all" ? undefined : next, entry: undefined })}
          options={options}
          className="w-56!"
        />
        <Verify />
      </div>
      <QueryState query={query} what="The audit">
        {() =>
          rows.length === 0 ? (
            <Empty title={action ? "No such entries" : "Nothing has happened yet"}>
              Decisions, saved agents, sign-ins and changes of users and keys are written here.
            </Empty>
          ) : (
            <>
              <Table
                label="Audit"
                columns={columns}
                rows={rows}
                rowKey={({ n }) => String(n)}
                selected={selected && String(selected.n)}
                onOpen={({ n }) => setSearch({ entry: n })}
              />
              {query.hasNextPage && (
                <Button
                  className="mt-2"
                  pending={query.isFetchingNextPage}
                  onClick={() => void query.fetchNextPage()}
                >
                  Show older entries
                </Button>
              )}
            </>
          )
        }
      </QueryState>
      <Drawer
        open={selected !== undefined}
        onClose={() => setSearch({ entry: undefined })}
        title={selected ? `No. ${selected.n}: ${selected.action}` : ""}
      >
        {selected && <EntryDetail entry={selected} who={names.get(selected.by)} />}
      </Drawer>
    </Page>
  );
}

/** Entries have ids, since names change. Only admins may look them up. */
function useNames(): ReadonlyMap<string, string> {
  const admin = useMay("admin");
  const users = useQuery({
    queryKey: ["users"],
    queryFn: ({ signal }) => client.listUsers({}, { signal }),
    enabled: admin,
  });
  return new Map(users.data?.items.map(({ id, name }) => [id, name]));
}

function aboutWords(about: Entry["about"]): string {
  return Object.entries(about)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => `${key} ${String(value)}`)
    .join(", ");
}

function EntryDetail({ entry, who }: { entry: Entry; who: string | undefined }) {
  const { at, by, about, before, after, hash, previous } = entry;
  const digests = [
    ["Before", before],
    ["After", after],
    ["Hash", hash],
    ["Previous hash", previous],
  ] as const;
  return (
    <div className="flex flex-col gap-4">
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">
        <dt className="text-muted">When</dt>
        <dd>
          <Time at={at} />
        </dd>
        <dt className="text-muted">Who</dt>
        <dd className="break-all">
          {who ?? by} {who && <span className="font-mono text-xs text-muted">{by}</span>}
        </dd>
        {digests.map(([label, value]) => (
          <Pair key={label} label={label} value={value} />
        ))}
      </dl>
      <JsonView label="About" value={about} />
    </div>
  );
}

function Pair({ label, value }: { label: string; value: string | null }) {
  if (value === null) return null;
  return (
    <>
      <dt className="text-muted">{label}</dt>
      <dd className="font-mono text-xs leading-5 break-all">{value}</dd>
    </>
  );
}

/** Walks the chain on the server and says what it found, for as long as the page is open. */
function Verify() {
  const verify = useMutation({ mutationFn: () => client.verifyAudit() });
  const { data } = verify;
  return (
    <>
      <Button pending={verify.isPending} onClick={() => verify.mutate()}>
        Verify the chain
      </Button>
      <div aria-live="polite" className={cx("min-w-0 text-sm", data && !data.ok && "basis-full")}>
        {verify.error ? (
          <p className="text-red">{explain(verify.error)}</p>
        ) : data?.ok ? (
          <p className="flex items-center gap-1.5 text-green">
            <CheckIcon width={12} height={12} />
            {data.rows === 1 ? "1 entry is" : `${formatCount(data.rows)} entries are`} unbroken, up to{" "}
            <span className="font-mono" title={data.end.hash}>
              {data.end.hash.slice(0, 12)}
            </span>
          </p>
        ) : data ? (
          <div className="rounded-md border border-red bg-red-soft px-3 py-2">
            <p className="flex items-center gap-1.5 font-medium text-red">
              <WarningIcon />
              The chain is broken: {plural(data.problems.length, "problem")} in{" "}
              {plural(data.rows, "entry", "entries")}
            </p>
            <ul className="mt-1 flex max-h-48 flex-col gap-1 overflow-y-auto">
              {data.problems.map(({ n, to, kind, message }) => (
                <li key={`${n} ${kind}`}>
                  <span className="font-mono">No. {to === undefined ? n : `${n} to ${to}`}</span> {message}
                </li>
              ))}
            </ul>
          </div>
        ) : null}
      </div>
    </>
  );
}
