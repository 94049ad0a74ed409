import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { client } from "../../api.ts";
import { exactTime } from "../../format/time.ts";
import type { SearchPatch } from "../../search.ts";
import { cx } from "../../ui/class-names.ts";
import { Combobox } from "../../ui/combobox.tsx";
import { CloseIcon } from "../../ui/icons.tsx";
import { SegmentedControl } from "../../ui/segmented-control.tsx";
import { type Option, Select } from "../../ui/select.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { SearchField } from "../../ui/text-field.tsx";
import { type Filters, RANGES, type RangeName, type RunKind, STATUS_FILTERS, toggled } from "./filters.ts";
import { STATUS_OF, shortId } from "./words.ts";

const ANY = "any";
const KINDS: readonly Option<RunKind | typeof ANY>[] = [
  { value: ANY, label: "All" },
  { value: "agent", label: "Agents" },
  { value: "workflow", label: "Workflows" },
];
/** What names in the list may be of. */
const NAMES: Record<RunKind | typeof ANY, string> = {
  any: "Any name",
  agent: "Any agent",
  workflow: "Any workflow",
};

/** All of it is in the URL: a list that somebody narrowed is a link. */
export function RunFilters({ filters, set }: { filters: Filters; set(patch: SearchPatch): void }) {
  const { kind = ANY } = filters;
  const names = useNames(kind);
  return (
    <div className="flex flex-col gap-2 pb-3">
      <div className="flex flex-wrap items-center gap-2">
        <SearchWords value={filters.search} onChange={(search) => set({ search })} />
        <SegmentedControl
          aria-label="Runs of"
          value={kind}
          onChange={(next) => set({ kind: next === ANY ? undefined : next, agent: undefined })}
          options={KINDS}
        />
        <div className="w-44">
          <Combobox
            aria-label={kind === ANY ? "Agent or workflow" : kind === "agent" ? "Agent" : "Workflow"}
            placeholder={NAMES[kind]}
            value={filters.agent}
            onChange={(agent) => set({ agent })}
            options={names}
          />
        </div>
        <Range filters={filters} set={set} />
        {filters.conversation !== undefined && (
          <Chip onRemove={() => set({ conversation: undefined })} what="conversation">
            Conversation <span className="font-mono text-xs">{shortId(filters.conversation)}</span>
          </Chip>
        )}
      </div>
      <fieldset className="-ml-1 flex flex-wrap gap-x-1">
        <legend className="sr-only">Status</legend>
        {STATUS_FILTERS.map(({ word, status }) => {
          const isOn = filters.statuses.some((one) => STATUS_OF[one] === status);
          return (
            <button
              key={word}
              type="button"
              aria-pressed={isOn}
              onClick={() => set({ status: toggled(filters.statuses, word) })}
              className={cx(
                "inline-flex h-8 items-center rounded-md border px-1 coarse:h-10",
                isOn
                  ? "border-accent shadow-[inset_0_0_0_1px_var(--accent)]"
                  : "border-transparent hover:border-line",
              )}
            >
              <StatusBadge status={status} />
            </button>
          );
        })}
      </fieldset>
    </div>
  );
}

function useNames(kind: RunKind | typeof ANY): { value: string; label: string }[] {
  const agents = useQuery({
    queryKey: ["agents", "names"],
    queryFn: ({ signal }) => client.listAgents({ query: { limit: 200 } }, { signal }),
    staleTime: 60_000,
    enabled: kind !== "workflow",
  });
  const workflows = useQuery({
    queryKey: ["workflows", "names"],
    queryFn: ({ signal }) => client.listWorkflows({ query: { limit: 200 } }, { signal }),
    staleTime: 60_000,
    enabled: kind !== "agent",
  });
  const found = [
    ...((kind !== "workflow" && agents.data?.items) || []),
    ...((kind !== "agent" && workflows.data?.items) || []),
  ];
  return [...new Set(found.map(({ name }) => name))].map((name) => ({ value: name, label: name }));
}

function Range({ filters, set }: { filters: Filters; set(patch: SearchPatch): void }) {
  const { from, to, range } = filters;
  if (from !== undefined || to !== undefined)
    return (
      <Chip what="time range" onRemove={() => set({ from: undefined, to: undefined })}>
        {from === undefined ? "until" : exactTime(from).slice(0, 16)}
        {to !== undefined && ` – ${exactTime(to).slice(0, 16)}`}
      </Chip>
    );
  const options: Option<RangeName | typeof ANY>[] = [
    { value: ANY, label: "Any time" },
    // The names are its own keys.
    ...(Object.keys(RANGES) as RangeName[]).map((name) => ({ value: name, label: RANGES[name].label })),
  ];
  return (
    <div className="w-40">
      <Select
        aria-label="Time range"
        value={range ?? ANY}
        onChange={(next) => set({ range: next === ANY ? undefined : next })}
        options={options}
      />
    </div>
  );
}

function Chip({ children, what, onRemove }: { children: React.ReactNode; what: string; onRemove(): void }) {
  return (
    <span className="control inline-flex items-center gap-1 pr-0.5 text-sm">
      {children}
      <button
        type="button"
        aria-label={`Remove ${what}`}
        onClick={onRemove}
        className="grid size-6 place-items-center rounded-sm text-muted hover:text-ink coarse:size-9"
      >
        <CloseIcon width={12} height={12} />
      </button>
    </span>
  );
}

const PAUSE_MS = 250;

/** What is typed goes into the URL once the typing rests. */
function SearchWords({ value, onChange }: { value: string; onChange(value: string): void }) {
  const [typed, setTyped] = useState(value);
  const [before, setBefore] = useState(value);
  if (value !== before) {
    setBefore(value);
    setTyped(value);
  }
  useEffect(() => {
    if (typed === value) return;
    const timer = setTimeout(() => onChange(typed), PAUSE_MS);
    return () => clearTimeout(timer);
  });
  return (
    <SearchField
      label="Search ids and inputs"
      value={typed}
      onChange={setTyped}
      maxLength={200}
      className="md:w-72"
    />
  );
}
