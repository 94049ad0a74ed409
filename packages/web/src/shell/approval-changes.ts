import { type QueryClient, useQuery } from "@tanstack/react-query";
import type { Answer } from "@trackside/server/client";

type Row = Answer<"listApprovals">["items"][number];
type Changes = ReadonlyMap<string, Row>;

const KEY = ["approval-changes"];
const NONE: Changes = new Map();
/** A night of decisions; the oldest go first. */
const MOST = 500;

/** What approvals have become since the page was opened. In the cache, so that it goes with the session. */
export function useApprovalChanges(): Changes {
  return useQuery({
    queryKey: KEY,
    queryFn: () => NONE,
    enabled: false,
    initialData: NONE,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
  }).data;
}

export function noteApprovals(queryClient: QueryClient, items: readonly Row[]): void {
  queryClient.setQueryData<Changes>(KEY, (before = NONE) => {
    const next = new Map(before);
    for (const item of items) {
      // A decision is final: word of the question that comes after it is old.
      if (item.state === "pending" && next.get(item.id)?.decision) continue;
      next.delete(item.id);
      next.set(item.id, item);
    }
    return new Map([...next].slice(-MOST));
  });
}

/** The items of an event of the inbox; whatever else it is has none. */
export function approvalsIn(data: unknown): readonly Row[] {
  if (typeof data !== "object" || data === null || !("items" in data)) return [];
  // The contract says what is in it.
  return Array.isArray(data.items) ? (data.items as Row[]) : [];
}
