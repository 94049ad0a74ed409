import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import type { Answer } from "@trackside/server/client";
import { useState } from "react";
import { client } from "../../api.ts";
import { plural } from "../../format/number.ts";
import { useKeys } from "../../keys/use-keys.ts";
import { one, useSearchState } from "../../search.ts";
import { useMay, WHO_MAY } from "../../session.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { AgentsIcon, MoreIcon, PlusIcon, UploadIcon } from "../../ui/icons.tsx";
import { Share } from "../../ui/numbers.tsx";
import { Page } from "../../ui/page.tsx";
import { QueryState } from "../../ui/query-state.tsx";
import { RunStatusBadge } from "../../ui/run-status.tsx";
import { Empty } from "../../ui/states.tsx";
import { Tag } from "../../ui/status-badge.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { SearchField } from "../../ui/text-field.tsx";
import { Time } from "../../ui/time.tsx";
import { AgentMenu } from "./agent-actions.tsx";
import { useDebounced } from "./editor/debounced.ts";
import { ImportDialog } from "./import-dialog.tsx";

type Agent = Answer<"listAgents">["items"][number];

export function AgentsPage() {
  const [search, setSearch] = useSearchState();
  const wanted = one(search, "search") ?? "";
  const rested = useDebounced(wanted, 200);
  const [importing, setImporting] = useState(false);
  const admin = useMay("admin");
  const navigate = useNavigate();
  const query = useInfiniteQuery({
    queryKey: ["agents", "list", rested],
    queryFn: ({ pageParam, signal }) =>
      client.listAgents(
        { query: { limit: 100, ...(rested && { search: rested }), ...(pageParam && { after: pageParam }) } },
        { signal },
      ),
    initialPageParam: "",
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
    // Runs come and go without the page being told.
    refetchInterval: 10_000,
  });
  const create = () => void navigate({ to: "/agents/new" });
  useKeys("Agents", [
    { keys: "c", what: "Create an agent", run: create, enabled: admin },
    { keys: "i", what: "Import an agent", run: () => setImporting(true), enabled: admin },
  ]);
  const why = admin ? undefined : `${WHO_MAY.admin} can make agents`;
  return (
    <Page
      title="Agents"
      actions={
        <>
          <Button icon={UploadIcon} disabled={!admin} title={why} onClick={() => setImporting(true)}>
            Import
          </Button>
          <Button kind="primary" icon={PlusIcon} disabled={!admin} title={why} onClick={create}>
            New agent
          </Button>
        </>
      }
    >
      <SearchField
        label="Search agents"
        value={wanted}
        onChange={(next) => setSearch({ search: next })}
        className="mb-2"
      />
      <QueryState query={query} what="Agents">
        {({ pages }) => {
          const rows = pages.flatMap(({ items }) => items);
          if (rows.length === 0) return wanted ? <NoMatch wanted={wanted} /> : <NoAgents admin={admin} />;
          return (
            <>
              <Table
                label="Agents"
                columns={COLUMNS}
                rows={rows}
                rowKey={({ id }) => id}
                onOpen={({ name }) => void navigate({ to: "/agents/$name", params: { name } })}
              />
              {query.hasNextPage && (
                <Button
                  className="mt-2"
                  pending={query.isFetchingNextPage}
                  onClick={() => void query.fetchNextPage()}
                >
                  Show more agents
                </Button>
              )}
            </>
          );
        }}
      </QueryState>
      <ImportDialog open={importing} onClose={() => setImporting(false)} />
    </Page>
  );
}

const COLUMNS: readonly Column<Agent>[] = [
  {
    id: "name",
    head: "Agent",
    cell: ({ name, definition, source }) => (
      <span className="flex min-w-0 items-center gap-2">
        <Link to="/agents/$name" params={{ name }} className="truncate font-medium hover:underline">
          {name}
        </Link>
        <Gated definition={definition} />
        {source === "code" && (
          // Elsewhere it has a column.
          <span className="md:hidden">
            <Tag title="Defined in the configuration, read-only here">config</Tag>
          </span>
        )}
      </span>
    ),
  },
  {
    id: "model",
    head: "Model",
    width: "17%",
    hideOnPhone: true,
    cell: ({ definition: { model } }) => (
      <span className="font-mono text-sm text-muted">{String(model)}</span>
    ),
  },
  {
    id: "tools",
    head: "Tools",
    width: "72px",
    align: "right",
    hideOnPhone: true,
    cell: ({ definition }) => <ToolCount definition={definition} />,
  },
  {
    id: "last",
    head: "Last run",
    width: "232px",
    hideOnPhone: true,
    cell: ({ last_run }) =>
      last_run ? (
        <Link
          to="/runs/$id"
          params={{ id: last_run.id }}
          className="flex items-center gap-2 hover:underline"
          title={`Open run ${last_run.id}`}
        >
          <RunStatusBadge status={last_run.status} />
          <span className="text-sm text-muted">
            <Time at={last_run.created_at} />
          </span>
        </Link>
      ) : (
        <span className="text-muted">never</span>
      ),
  },
  {
    id: "errors",
    head: <span title="Of the last 100 runs that ended">Failed</span>,
    width: "76px",
    align: "right",
    hideOnPhone: true,
    cell: ({ error_rate }) =>
      error_rate === null ? (
        <span className="text-muted">–</span>
      ) : (
        <span className={error_rate > 0 ? "text-red" : undefined}>
          <Share value={error_rate} />
        </span>
      ),
  },
  {
    id: "pending",
    head: "Waiting",
    width: "84px",
    align: "right",
    cell: ({ pending_approvals, name }) =>
      pending_approvals === 0 ? (
        <span className="text-muted">–</span>
      ) : (
        <Link
          to="/inbox"
          search={{ agent: name } as never} // every route reads a plain search
          className="font-medium text-amber underline"
          title={`${plural(pending_approvals, "call")} of ${name} to decide`}
        >
          {pending_approvals}
        </Link>
      ),
  },
  {
    id: "source",
    head: "Source",
    width: "108px",
    hideOnPhone: true,
    cell: ({ source, version, updated_by, updated_at }) =>
      source === "code" ? (
        <span className="text-muted">config</span>
      ) : (
        <span
          className="text-muted"
          title={`Saved by ${updated_by} at ${new Date(updated_at).toISOString()}`}
        >
          store, v{version}
        </span>
      ),
  },
  {
    id: "actions",
    head: <span className="sr-only">Actions</span>,
    width: "56px",
    align: "right",
    cell: (agent) => (
      <AgentMenu
        agent={agent}
        trigger={<IconButton size="small" icon={MoreIcon} label={`Actions on ${agent.name}`} />}
      />
    ),
  },
];

function Gated({ definition: { hitl_tools } }: { definition: Record<string, unknown> }) {
  if (!Array.isArray(hitl_tools) || hitl_tools.length === 0) return null;
  return <Tag title={`Waits for an approval before ${hitl_tools.join(", ")}`}>gated</Tag>;
}

function ToolCount({ definition: { tools, hitl_tools } }: { definition: Record<string, unknown> }) {
  if (Array.isArray(tools)) return <span title={tools.join(", ") || "none"}>{tools.length}</span>;
  const gated = Array.isArray(hitl_tools) ? hitl_tools : [];
  return (
    <span title={`Bound by the loader: ${gated.join(", ") || "none"}`} className="text-muted">
      {gated.length > 0 ? gated.length : "–"}
    </span>
  );
}

function NoMatch({ wanted }: { wanted: string }) {
  return (
    <Empty title={`No agent is called like "${wanted}"`} icon={AgentsIcon}>
      The search looks at names.
    </Empty>
  );
}

function NoAgents({ admin }: { admin: boolean }) {
  return (
    <Empty
      title="No agents yet"
      icon={AgentsIcon}
      action={
        admin && (
          <Link
            to="/agents/new"
            className="inline-flex h-8 items-center rounded-md bg-accent-fill px-3 font-medium text-on-accent"
          >
            Create an agent
          </Link>
        )
      }
      code={`new Agent({ name: "clerk", model: "openai:gpt-4o", tools: [refund], hitlTools: ["refund"] })`}
    >
      An agent is a model with instructions, tools and rails. Make one here{admin ? "" : " (an admin can)"},
      or define it in trackside.config.ts.
    </Empty>
  );
}
