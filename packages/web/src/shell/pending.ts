import { queryOptions, useQuery } from "@tanstack/react-query";
import { client } from "../api.ts";

/** Pages that change what is pending invalidate this: `queryClient.invalidateQueries({ queryKey: ["approvals"] })`. */
const pendingQuery = queryOptions({
  queryKey: ["approvals", "pending-count"],
  queryFn: async ({ signal }) => {
    const { items, next } = await client.listApprovals(
      { query: { state: "pending", limit: 100 } },
      { signal },
    );
    return { count: items.length, more: next !== null };
  },
  refetchInterval: 15_000,
});

/** How many calls wait for a human; `more` says that there are more than were counted. */
export function usePending(): { count: number; more: boolean } {
  return useQuery(pendingQuery).data ?? { count: 0, more: false };
}
