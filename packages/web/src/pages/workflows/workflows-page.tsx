import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import type { Answer } from "@trackside/server/client";
import { lazy, Suspense, useState } from "react";
import { client } from "../../api.ts";
import { formatShare, plural } from "../../format/number.ts";
import { useKeys } from "../../keys/use-keys.ts";
import { one, useSearchState } from "../../search.ts";
import { useMay, WHO_MAY } from "../../session.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { BranchIcon, MoreIcon, PlusIcon, UploadIcon } from "../../ui/icons.tsx";
import { Page } from "../../ui/page.tsx";
import { QueryState } from "../../ui/query-state.tsx";
import { RunStatusBadge } from "../../ui/run-status.tsx";
import { Empty } from "../../ui/states.tsx";
import { Tag } from "../../ui/status-badge.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { SearchField } from "../../ui/text-field.tsx";
import { Time } from "../../ui/time.tsx";
import { useDebounced } from "../agents/editor/debounced.ts";
import { ImportDialog } from "./import-dialog.tsx";
import { WorkflowMenu } from "./workflow-actions.tsx";

type Workflow = Answer<"listWorkflows">["items"][number];

// Its drawings need the layout, which a list does not.
const NewDialog = lazy(() => import("./new-dialog.tsx").then((module) => ({ default: module.NewDialog })));

export function WorkflowsPage() {
  const [search, setSearch] = useSearchState();
  const wanted = one(search, "search") ?? "";
  const rested = useDebounced(wanted, 200);
  const [open, setOpen] = useState<"new" | "import">();
  const admin = useMay("admin");
  const navigate = useNavigate();
  const query = useInfiniteQuery({
    queryKey: ["workflows", "list", rested],
    queryFn: ({ pageParam, signal }) =>
      client.listWorkflows(
        { query: { limit: 100, ...(rested && { search: rested }), ...(pageParam && { after: pageParam }) } },
        { signal },
      ),
    initialPageParam: "",
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
    // Runs come and go without the page being told.
    refetchInterval: 10_000,
  });
  useKeys("Workflows", [
    { keys: "c", what: "Create a workflow", run: () => setOpen("new"), enabled: admin },
    { keys: "i", what: "Import a workflow", run: () => setOpen("import"), enabled: admin },
  ]);
  const why = admin ? undefined : `${WHO_MAY.admin} can make workflows`;
  const close = () => setOpen(undefined);
  return (
    <Page
      title="Workflows"
      actions={
        <>
          <Button icon={UploadIcon} disabled={!admin} title={why} onClick={() => setOpen("import")}>
            Import
          </Button>
          <Button kind="primary" icon={PlusIcon} disabled={!admin} title={why} onClick={() => setOpen("new")}>
            New workflow
          </Button>
        </>
      }
    >
      <SearchField
        label="Search workflows"
        value={wanted}
        onChange={(next) => setSearch({ search: next })}
        className="mb-2"
      />
      <QueryState query={query} what="Workflows">
        {({ pages }) => {
          const rows = pages.flatMap(({ items }) => items);
          if (rows.length === 0)
            return wanted ? (
              <Empty title={`No workflow is called like "${wanted}"`} icon={BranchIcon}>
                The search looks at names.
              </Empty>
            ) : (
              <NoWorkflows admin={admin} onNew={() => setOpen("new")} />
            );
          return (
            <>
              <Table
                label="Workflows"
                columns={COLUMNS}
                rows={rows}
                rowKey={({ id }) => id}
                onOpen={({ name }) => void navigate({ to: "/workflows/$name", params: { name } })}
              />
              {query.hasNextPage && (
                <Button
                  className="mt-2"
                  pending={query.isFetchingNextPage}
                  onClick={() => void query.fetchNextPage()}
                >
                  Show more workflows
                </Button>
              )}
            </>
          );
        }}
      </QueryState>
      {open === "new" && (
        <Suspense>
          <NewDialog open onClose={close} />
        </Suspense>
      )}
      <ImportDialog open={open === "import"} onClose={close} />
    </Page>
  );
}

const COLUMNS: readonly Column<Workflow>[] = [
  {
    id: "name",
    head: "Workflow",
    cell: ({ name, description, source }) => (
      <span className="flex min-w-0 items-center gap-2">
        <Link
          to="/workflows/$name"
          params={{ name }}
          className="shrink-0 font-medium hover:underline max-md:truncate max-md:shrink"
        >
          {name}
        </Link>
        {source === "code" && (
          // Elsewhere it has a column.
          <span className="md:hidden">
            <Tag title="Defined in the configuration, read-only here">config</Tag>
          </span>
        )}
        {description && (
          <span className="truncate text-sm text-muted max-md:hidden" title={description}>
            {description}
          </span>
        )}
      </span>
    ),
  },
  {
    id: "nodes",
    head: "Nodes",
    width: "72px",
    align: "right",
    hideOnPhone: true,
    cell: ({ nodes }) => nodes,
  },
  {
    id: "last",
    head: "Last run",
    width: "232px",
    hideOnPhone: true,
    cell: ({ name, last_run }) =>
      last_run ? (
        <Link
          to="/workflows/$name"
          params={{ name }}
          search={{ run: last_run.id } as never} // every route reads a plain search
          className="flex items-center gap-2 hover:underline"
          title={`Show run ${last_run.id}`}
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
    id: "failures",
    head: <span title="Runs that ended with an error">Failed</span>,
    width: "84px",
    align: "right",
    hideOnPhone: true,
    cell: ({ runs, failures }) =>
      runs === 0 ? (
        <span className="text-muted">–</span>
      ) : (
        <span
          className={failures > 0 ? "text-red" : undefined}
          title={`${failures} of ${plural(runs, "run")}, ${formatShare(failures / runs)}`}
        >
          {failures} / {runs}
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
          className="font-medium text-amber underline"
          title={`${plural(pending_approvals, "decision")} of ${name} to make`}
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
    cell: ({ source, version, updated_by, updated_at, shadowed }) =>
      source === "code" ? (
        <span className="text-muted">config</span>
      ) : (
        <span
          className="text-muted"
          title={
            shadowed
              ? "One in code has its name, and is the one that runs"
              : `Saved by ${updated_by} at ${new Date(updated_at).toISOString()}`
          }
        >
          {shadowed ? "shadowed" : "store"}, v{version}
        </span>
      ),
  },
  {
    id: "actions",
    head: <span className="sr-only">Actions</span>,
    width: "56px",
    align: "right",
    cell: (workflow) => (
      <WorkflowMenu
        workflow={workflow}
        trigger={<IconButton size="small" icon={MoreIcon} label={`Actions on ${workflow.name}`} />}
      />
    ),
  },
];

function NoWorkflows({ admin, onNew }: { admin: boolean; onNew(): void }) {
  return (
    <Empty
      title="No workflows yet"
      icon={BranchIcon}
      action={
        admin && (
          <Button kind="primary" onClick={onNew}>
            Create a workflow
          </Button>
        )
      }
      code={`defineWorkflow({ name: "deploy", input: z.object({ service: z.string() }), nodes, edges })`}
    >
      A workflow runs agents and tools in the order you draw, waits for people where you say so, and outlives
      a restart. Draw one here{admin ? "" : " (an admin can)"}, or define it in trackside.config.ts.
    </Empty>
  );
}
