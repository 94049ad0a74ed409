import type { Request } from "@trackside/server/client";
import { many, numberOf, one, type Search } from "../../search.ts";
import type { Status } from "../../ui/status-badge.tsx";
import { STATUS_OF } from "./words.ts";

type Query = NonNullable<Request<"listRuns">["query"]>;
type RunStatus = keyof typeof STATUS_OF;
export type RunKind = NonNullable<Query["kind"]>;

/** What the list is asked for, as its URL says it: the API's own names and words. */
export interface Filters {
  readonly statuses: readonly RunStatus[];
  readonly kind: RunKind | undefined;
  /** An agent's name, or a workflow's. */
  readonly agent: string | undefined;
  readonly range: RangeName | undefined;
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly search: string;
  /** The page: runs older than this one. */
  readonly after: string | undefined;
  readonly conversation: string | undefined;
}

const MINUTE = 60_000;
export const RANGES = {
  "15m": { label: "Last 15 minutes", ms: 15 * MINUTE },
  "1h": { label: "Last hour", ms: 60 * MINUTE },
  "24h": { label: "Last 24 hours", ms: 24 * 60 * MINUTE },
  "7d": { label: "Last 7 days", ms: 7 * 24 * 60 * MINUTE },
  "30d": { label: "Last 30 days", ms: 30 * 24 * 60 * MINUTE },
} as const;
export type RangeName = keyof typeof RANGES;

const isRange = (name: string | undefined): name is RangeName =>
  name !== undefined && Object.hasOwn(RANGES, name);
const isKind = (name: string | undefined): name is RunKind => name === "agent" || name === "workflow";
const isStatus = (name: string): name is RunStatus => Object.hasOwn(STATUS_OF, name);

export function readFilters(search: Search): Filters {
  const range = one(search, "range");
  const kind = one(search, "kind");
  return {
    statuses: many(search, "status").filter(isStatus),
    kind: isKind(kind) ? kind : undefined,
    agent: one(search, "agent"),
    range: isRange(range) ? range : undefined,
    from: numberOf(search, "from"),
    to: numberOf(search, "to"),
    search: one(search, "search") ?? "",
    after: one(search, "after"),
    conversation: one(search, "conversation"),
  };
}

/** A range that slides begins at a whole minute: asking twice within one is the same question. */
export function queryOf(filters: Filters, now: number, limit: number): Query {
  const { statuses, kind, agent, range, search, after, conversation } = filters;
  const since = range && Math.floor((now - RANGES[range].ms) / MINUTE) * MINUTE;
  const from = filters.from ?? since;
  return {
    limit,
    ...(statuses.length > 0 && { status: [...new Set(statuses.flatMap(alike))] }),
    ...(kind !== undefined && { kind }),
    ...(agent !== undefined && { agent }),
    ...(conversation !== undefined && { conversation }),
    ...(from !== undefined && { from }),
    ...(filters.to !== undefined && { to: filters.to }),
    ...(search.trim() !== "" && { search: search.trim().slice(0, 200) }),
    ...(after !== undefined && { after }),
  };
}

/** Whether anything narrows the list: an empty answer then means something else. */
export function isNarrowed(filters: Filters): boolean {
  const { statuses, kind, agent, range, from, to, search, conversation } = filters;
  return (
    statuses.length > 0 ||
    search.trim() !== "" ||
    [kind, agent, range, from, to, conversation].some((one) => one !== undefined)
  );
}

/** Badges that filter, each with the word its URL has. */
export const STATUS_FILTERS: readonly { word: RunStatus; status: Status }[] = [
  { word: "running", status: "Running" },
  { word: "waiting", status: "Waiting for you" },
  { word: "completed", status: "Done" },
  { word: "error", status: "Failed" },
  { word: "cancelled", status: "Stopped" },
  { word: "parked", status: "Parked" },
];

/** All that have the same badge. */
function alike(word: RunStatus): RunStatus[] {
  return (Object.keys(STATUS_OF) as RunStatus[]).filter((other) => STATUS_OF[other] === STATUS_OF[word]); // its own keys
}

/** What the URL has once a badge was pressed. */
export function toggled(statuses: readonly RunStatus[], word: RunStatus): RunStatus[] {
  const rest = statuses.filter((one) => STATUS_OF[one] !== STATUS_OF[word]);
  return rest.length === statuses.length ? [...statuses, word] : rest;
}
