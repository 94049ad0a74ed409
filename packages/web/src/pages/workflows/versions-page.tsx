import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { Answer } from "@trackside/server/client";
import { useMemo, useState } from "react";
import { client } from "../../api.ts";
import { plural } from "../../format/number.ts";
import { numberOf, useSearchState } from "../../search.ts";
import { useMay, WHO_MAY } from "../../session.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { DiffView } from "../../ui/diff-view.tsx";
import { Page } from "../../ui/page.tsx";
import { QueryState } from "../../ui/query-state.tsx";
import { Select } from "../../ui/select.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { toast } from "../../ui/toast.tsx";

type Version = Answer<"listWorkflowVersions">["items"][number];

/** What changed, when, by whom; and the way back. */
export function WorkflowVersionsPage() {
  const { name } = useParams({ from: "/signed-in/workflows/$name/versions" });
  const query = useQuery({
    queryKey: ["workflows", "versions", name],
    queryFn: ({ signal }) => client.listWorkflowVersions({ params: { name } }, { signal }),
  });
  return (
    <Page
      title={`Versions of ${name}`}
      lead={
        <Link to="/workflows/$name" params={{ name }} className="text-accent underline">
          Back to {name}
        </Link>
      }
    >
      <QueryState query={query} what={`Versions of ${name}`}>
        {({ items }) => <Versions name={name} versions={items} />}
      </QueryState>
    </Page>
  );
}

function Versions({ name, versions }: { name: string; versions: readonly Version[] }) {
  const [search, setSearch] = useSearchState();
  const [restoring, setRestoring] = useState<Version>();
  const may = useMay("admin");
  const queryClient = useQueryClient();
  const newest = versions[0];
  const to = numberOf(search, "to") ?? newest?.version ?? 1;
  const from = numberOf(search, "from") ?? Math.max(1, to - 1);
  const columns = useMemo<readonly Column<Version>[]>(
    () => [
      {
        id: "version",
        head: "Version",
        width: "72px",
        cell: ({ version }) => <span className="font-medium tabular-nums">v{version}</span>,
      },
      { id: "by", head: "Who", cell: ({ by }) => by },
      { id: "when", head: "When", width: "104px", cell: ({ created_at }) => <Time at={created_at} /> },
      {
        id: "note",
        head: "Note",
        hideOnPhone: true,
        cell: ({ note, restored_from }) => <NoteText {...{ note, restored_from }} />,
      },
      {
        id: "restore",
        head: <span className="sr-only">Restore</span>,
        width: "108px",
        align: "right",
        cell: (row) =>
          row.version === newest?.version ? (
            <span className="text-muted">current</span>
          ) : (
            <Button
              size="small"
              disabled={!may}
              title={may ? undefined : `${WHO_MAY.admin} can`}
              onClick={() => setRestoring(row)}
            >
              Restore
            </Button>
          ),
      },
    ],
    [newest?.version, may],
  );
  const options = versions.map(({ version, note }) => ({
    value: String(version),
    label: `v${version}`,
    ...(note && { hint: note }),
  }));
  return (
    <div className="grid gap-6 2xl:grid-cols-2">
      <div className="min-w-0">
        <Table
          label="Versions"
          columns={columns}
          rows={versions}
          rowKey={({ version }) => String(version)}
          selected={String(to)}
          onOpen={({ version }) => setSearch({ from: Math.max(1, version - 1), to: version })}
        />
      </div>
      <section aria-label="Difference" className="flex min-w-0 flex-col gap-3">
        <div className="flex flex-wrap items-center gap-2">
          <h2 className="mr-1 text-lg font-semibold max-sm:basis-full">What changed</h2>
          <Select
            aria-label="From version"
            value={String(from)}
            onChange={(next) => setSearch({ from: next })}
            options={options}
            className="w-24!"
          />
          <span className="text-muted">to</span>
          <Select
            aria-label="To version"
            value={String(to)}
            onChange={(next) => setSearch({ to: next })}
            options={options}
            className="w-24!"
          />
        </div>
        <Link
          to="/workflows/$name"
          params={{ name }}
          search={{ version: String(to) } as never} // every route reads a plain search
          className="w-fit text-accent underline"
        >
          Show version {to} on the canvas
        </Link>
        {versions.length === 1 && from === to ? (
          <p className="text-muted">There is one version so far, so nothing to compare.</p>
        ) : (
          <Difference name={name} from={from} to={to} />
        )}
      </section>
      {restoring && newest && (
        <Confirm
          open
          onClose={() => setRestoring(undefined)}
          title={`Restore version ${restoring.version} of ${name}?`}
          description={`It is saved as version ${newest.version + 1}. Nothing is lost: version ${newest.version} stays in this list. Runs under way keep the definition they began with.`}
          action={`Restore version ${restoring.version}`}
          onConfirm={async () => {
            const done = await client.restoreWorkflowVersion({
              params: { name, version: restoring.version },
              body: { version: newest.version },
            });
            await queryClient.invalidateQueries({ queryKey: ["workflows"] });
            setSearch({ from: undefined, to: undefined });
            toast({
              title: `Version ${restoring.version} is restored`,
              detail: `As version ${done.version}`,
            });
          }}
        />
      )}
    </div>
  );
}

function NoteText({ note, restored_from }: Pick<Version, "note" | "restored_from">) {
  const words = [restored_from !== null && `Restored from v${restored_from}`, note]
    .filter(Boolean)
    .join(": ");
  return words ? <span title={words}>{words}</span> : <span className="text-muted">–</span>;
}

function Difference({ name, from, to }: { name: string; from: number; to: number }) {
  const query = useQuery({
    queryKey: ["workflows", "versions", name, "diff", from, to],
    queryFn: ({ signal }) =>
      client.diffWorkflowVersions({ params: { name }, query: { from, to } }, { signal }),
  });
  return (
    <QueryState query={query} what="The difference">
      {({ from: before, to: after, differences }) => (
        <>
          {differences.length > 0 && (
            <p className="text-sm break-words text-muted">
              {plural(differences.length, "change")}:{" "}
              <span className="font-mono">{differences.map(({ path }) => path).join(", ")}</span>
            </p>
          )}
          <DiffView
            label={`From version ${from} to version ${to}`}
            before={before.definition}
            after={after.definition}
          />
        </>
      )}
    </QueryState>
  );
}
