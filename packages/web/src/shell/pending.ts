import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { client } from "../api.ts";
import { useEvents } from "../events.ts";

const pendingQuery = queryOptions({
  queryKey: ["approvals", "pending-count"],
  queryFn: async ({ signal }) => {
    const { items, next } = await client.listApprovals(
      { query: { state: "pending", limit: 100 } },
      { signal },
    );
    return { count: items.length, more: next !== null };
  },
  // For tabs that nobody sees: the others hear of changes as they happen.
  refetchInterval: 15_000,
  refetchIntervalInBackground: true,
});

/** How many calls wait for a human; `more` says that there are more than were counted. */
export function usePending(): { count: number; more: boolean } {
  return useQuery(pendingQuery).data ?? { count: 0, more: false };
}

/**
 * The inbox's changes as they happen, once for the whole page: whatever is cached under `["approvals", …]` is loaded anew.
 */
export function useLiveApprovals(): void {
  const queryClient = useQueryClient();
  useEvents(client.url("streamApprovals", {}), {
    onEvent: () => void queryClient.invalidateQueries({ queryKey: ["approvals"] }),
  });
}
