import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { client } from "../api.ts";
import { useEvents } from "../events.ts";
import { approvalsIn, noteApprovals } from "./approval-changes.ts";
import { useNotifications, type Waiting } from "./notifications.ts";

const pendingQuery = queryOptions({
  queryKey: ["approvals", "pending-count"],
  queryFn: async ({ signal }) => {
    const { items, next } = await client.listApprovals(
      { query: { state: "pending", limit: 100 } },
      { signal },
    );
    const waiting: readonly Waiting[] = items.map(({ id, tool, agent, kind, reasons }) => ({
      id,
      tool: kind === "workflow_node" ? (reasons[0] ?? tool) : tool,
      agent,
    }));
    return { count: items.length, more: next !== null, waiting };
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
 * The inbox's changes as they happen, once for the whole page: what they say is noted for those who show it, whatever is
 * cached under `["approvals", …]` is loaded anew, and who asked for it is notified.
 */
export function useLiveApprovals(): void {
  const queryClient = useQueryClient();
  useNotifications(useQuery(pendingQuery).data?.waiting);
  useEvents(client.url("streamApprovals", {}), {
    onEvent: ({ data }) => {
      noteApprovals(queryClient, approvalsIn(data));
      void queryClient.invalidateQueries({ queryKey: ["approvals"] });
    },
  });
}
