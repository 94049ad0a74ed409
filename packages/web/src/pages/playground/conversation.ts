import { queryOptions, useQueryClient } from "@tanstack/react-query";
import type { Answer } from "@trackside/server/client";
import type { UserPart } from "trackside/schema";
import { client } from "../../api.ts";

export type Conversation = Answer<"getConversation">;
export type Branch = Conversation["branches"][number];
type Messages = Answer<"listMessages">;

/** Others may write here too, and there is no stream of a conversation: it is looked at now and then. */
const LOOK_MS = 4000;

export function conversationsQuery(agent: string) {
  return queryOptions({
    queryKey: ["playground", "conversations", agent],
    queryFn: ({ signal }) => client.listConversations({ query: { agent, limit: 100 } }, { signal }),
    refetchInterval: 3 * LOOK_MS,
  });
}

export function conversationQuery(id: string) {
  return queryOptions({
    queryKey: ["playground", "conversation", id],
    queryFn: ({ signal }) => client.getConversation({ params: { id } }, { signal }),
    refetchInterval: LOOK_MS,
  });
}

export function messagesQuery(branch: string) {
  return queryOptions({
    queryKey: ["playground", "messages", branch],
    queryFn: async ({ signal, client: cache, queryKey }) => {
      const found = await client.listMessages({ params: { id: branch } }, { signal });
      // What begins a run is in the log only once the run has come that far: what was shown stays until then.
      const last = cache.getQueryData<Messages>(queryKey)?.items.at(-1);
      const isAhead = last?.role === "user" && last.id.endsWith(".user");
      if (!isAhead || found.items.some(({ id }) => id === last.id)) return found;
      return { ...found, items: [...found.items, last] };
    },
    staleTime: Number.POSITIVE_INFINITY, // asked for again when a run begins or ends
  });
}

export function runsQuery(conversation: string) {
  return queryOptions({
    queryKey: ["playground", "runs", conversation],
    queryFn: ({ signal }) => client.listRuns({ query: { conversation, limit: 200 } }, { signal }),
    staleTime: Number.POSITIVE_INFINITY, // as above
  });
}

/** The branch of the address; else the one that is at work, else the newest. */
export function branchOf({ branches }: Conversation, asked: string | undefined): Branch | undefined {
  const newest = branches.toSorted((a, b) => b.created_at - a.created_at)[0];
  return (
    branches.find(({ id }) => id === asked) ?? branches.find((one) => one.active_run_id !== null) ?? newest
  );
}

/** "main", then "branch 2", "branch 3" in the order they were made. */
export function branchName({ branches }: Conversation, id: string): string {
  const at = branches.toSorted((a, b) => a.created_at - b.created_at).findIndex((branch) => branch.id === id);
  return at <= 0 ? "main" : `branch ${at + 1}`;
}

/** What the page knows of a conversation, put right when something happened. */
export function useConversationCache() {
  const queryClient = useQueryClient();
  return {
    /** A run has begun with these words: shown before the server is asked. */
    begun: (branch: Branch, runId: string, parts: readonly UserPart[]) => {
      queryClient.setQueryData<Conversation>(
        conversationQuery(branch.conversation_id).queryKey,
        (before) =>
          before && {
            ...before,
            branches: before.branches.map((one) =>
              one.id === branch.id ? { ...one, active_run_id: runId } : one,
            ),
          },
      );
      queryClient.setQueryData<Messages>(messagesQuery(branch.id).queryKey, (before) => {
        const id = `${runId}.user`;
        if (before?.items.some((message) => message.id === id)) return before;
        return { next: null, items: [...(before?.items ?? []), { id, role: "user", parts: [...parts] }] };
      });
      void queryClient.invalidateQueries({ queryKey: runsQuery(branch.conversation_id).queryKey });
      void queryClient.invalidateQueries({ queryKey: ["playground", "conversations"] });
    },
    /** A run began or ended, here or elsewhere. */
    changed: (conversation: string, branch: string) =>
      Promise.all(
        [
          conversationQuery(conversation).queryKey,
          messagesQuery(branch).queryKey,
          runsQuery(conversation).queryKey,
          ["playground", "artifacts", conversation],
          ["playground", "conversations"],
        ].map((queryKey) => queryClient.invalidateQueries({ queryKey })),
      ),
  };
}
