import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { plural } from "../../format/number.ts";
import { numberOf, useSearchState } from "../../search.ts";
import { Button } from "../../ui/button.tsx";
import { DiffView } from "../../ui/diff-view.tsx";
import { QueryState } from "../../ui/query-state.tsx";
import { Select } from "../../ui/select.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { PlanBadge } from "./badges.tsx";
import { contentOf, draftOfVersion } from "./draft.ts";
import { type Version, versionsQuery } from "./types.ts";

/** Every plan there was, and what changed from one to the next. */
export function Versions({
  agent,
  refused,
  onReuse,
}: {
  agent: string;
  /** Why none can be used again. */
  refused: string | undefined;
  onReuse(version: Version): void;
}) {
  const query = useQuery(versionsQuery(agent));
  return (
    <QueryState query={query} what="Versions">
      {({ items }) => <Listed versions={items} refused={refused} onReuse={onReuse} />}
    </QueryState>
  );
}

function Listed({
  versions,
  refused,
  onReuse,
}: {
  versions: readonly Version[];
  refused: string | undefined;
  onReuse(version: Version): void;
}) {
  const [search, setSearch] = useSearchState();
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
      { id: "state", head: "State", width: "136px", cell: ({ state }) => <PlanBadge state={state} /> },
      { id: "goal", head: "Goal", hideOnPhone: true, cell: ({ goal }) => <span title={goal}>{goal}</span> },
      { id: "by", head: "Who", width: "112px", hideOnPhone: true, cell: ({ by }) => by },
      { id: "when", head: "When", width: "104px", cell: ({ created_at }) => <Time at={created_at} /> },
      {
        id: "reuse",
        head: <span className="sr-only">Use again</span>,
        width: "128px",
        align: "right",
        cell: (version) =>
          version.version === newest?.version ? (
            <span className="text-muted">newest</span>
          ) : (
            <Button
              size="small"
              disabled={refused !== undefined}
              title={refused}
              aria-label={`Use again: version ${version.version}`}
              onClick={() => onReuse(version)}
            >
              Use again
            </Button>
          ),
      },
    ],
    [newest?.version, refused, onReuse],
  );
  if (newest === undefined) return <p className="text-muted">There is no version yet.</p>;
  const options = versions.map(({ version, note }) => ({
    value: String(version),
    label: `v${version}`,
    ...(note && { hint: note }),
  }));
  const before = versions.find(({ version }) => version === from);
  const after = versions.find(({ version }) => version === to);
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
        {before === undefined || after === undefined || before === after ? (
          <p className="text-muted">
            {versions.length === 1
              ? "There is one version so far, so nothing to compare."
              : "Choose two versions to compare."}
          </p>
        ) : (
          <>
            {after.note && <p className="text-sm text-muted">{after.note}</p>}
            <p className="text-sm text-muted">
              {plural(before.steps.length, "step")} before, {plural(after.steps.length, "step")} after.
            </p>
            <DiffView
              label={`From version ${from} to version ${to}`}
              before={contentOf(draftOfVersion(before))}
              after={contentOf(draftOfVersion(after))}
            />
          </>
        )}
      </section>
    </div>
  );
}
