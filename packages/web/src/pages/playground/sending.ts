import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { UserPart } from "trackside/schema";
import { ApiProblem, client, explain, mayRetry } from "../../api.ts";
import { toast } from "../../ui/toast.tsx";
import { DecisionKeys } from "../inbox/decision-key.ts";
import { type Branch, type Conversation, conversationQuery, useConversationCache } from "./conversation.ts";
import { isOver, rootOf, type Tree } from "./transcript.ts";
import { titleOf } from "./turns.ts";

/** A message that a run under way has received and not yet read. */
export interface Steered {
  readonly receipt: string;
  readonly runId: string;
  readonly parts: readonly UserPart[];
}

/** A message that was refused because a run is under way. */
export interface Busy {
  readonly parts: readonly UserPart[];
}

interface Where {
  readonly agent: string;
  readonly conversation: Conversation | undefined;
  readonly branch: Branch | undefined;
  readonly activeRun: string | undefined;
  readonly live: Tree | undefined;
  readonly onGo: (where: { conversation: string; branch?: undefined }) => void;
}

/**
 * Says something: begins a conversation, takes the next turn, or steers the run under way. A message whose answer was lost
 * is sent again under the same key, so it arrives once (X10).
 */
export function useSending({ agent, conversation, branch, activeRun, live, onGo }: Where) {
  const queryClient = useQueryClient();
  const cache = useConversationCache();
  const [keys] = useState(() => new DecisionKeys());
  const [pending, setPending] = useState<readonly Steered[]>([]);
  const [busy, setBusy] = useState<Busy>();

  const mutation = useMutation({
    mutationFn: async ({ parts, whenBusy }: { parts: UserPart[]; whenBusy?: "steer" | "queue" }) => {
      const input = wireInput(parts);
      if (activeRun !== undefined && whenBusy === undefined) {
        const idempotencyKey = keys.keyOf(["steer", activeRun, input]);
        const receipt = await client.steerRun(
          { params: { id: activeRun }, body: { input } },
          { idempotencyKey },
        );
        setPending((before) => [...before, { receipt: receipt.id, runId: activeRun, parts }]);
        return;
      }
      const target = branch ?? (await begin(parts));
      const idempotencyKey = keys.keyOf(["send", target.id, input, whenBusy ?? null]);
      const started = await client.sendMessage(
        { params: { id: target.id }, body: { input, agent, ...(whenBusy && { when_busy: whenBusy }) } },
        { idempotencyKey },
      );
      if (started.receipt)
        setPending((before) => [
          ...before,
          { receipt: started.receipt?.id ?? "", runId: started.run_id, parts },
        ]);
      if (started.receipt || whenBusy === "queue") await cache.changed(target.conversation_id, target.id);
      else cache.begun(target, started.run_id, parts);
      if (conversation === undefined) onGo({ conversation: target.conversation_id, branch: undefined });
    },
    retry: (failures, error) => failures < 3 && mayRetry(error),
    retryDelay: (failures) => Math.min(500 * 2 ** failures, 4_000),
    onSuccess: () => {
      keys.answered();
      setBusy(undefined);
    },
    onError: (error, { parts }) => {
      if (!mayRetry(error)) keys.answered();
      if (error instanceof ApiProblem && error.code === "conversation_busy") {
        setBusy({ parts });
        if (conversation && branch) void cache.changed(conversation.id, branch.id);
      } else toast({ kind: "problem", title: "Not sent", detail: explain(error) });
    },
  });

  const begin = async (parts: readonly UserPart[]): Promise<Branch> => {
    const title = titleOf(parts);
    const made = await client.createConversation(
      { body: { agent, ...(title && { title }) } },
      { idempotencyKey: keys.keyOf(["begin", agent, parts]) },
    );
    keys.answered();
    queryClient.setQueryData(conversationQuery(made.id).queryKey, made);
    const [first] = made.branches;
    if (first === undefined) throw new Error("The conversation has no branch to write to.");
    return first;
  };

  // What has joined stands in the transcript; what came too late is the next turn, which the log has.
  useEffect(() => {
    if (live === undefined) return;
    const run = rootOf(live);
    const joined = new Set(run.items.flatMap((item) => (item.kind === "said" ? [item.receipt] : [])));
    setPending((before) => {
      const left = before.filter(
        ({ receipt, runId }) => !joined.has(receipt) && !(runId === run.id && isOver(run)),
      );
      return left.length === before.length ? before : left;
    });
  }, [live]);

  const send = (parts: UserPart[], whenBusy?: "steer" | "queue"): Promise<boolean> =>
    mutation.mutateAsync({ parts, ...(whenBusy && { whenBusy }) }).then(
      () => true,
      () => false,
    );
  return {
    send,
    isSending: mutation.isPending,
    steered: pending.filter(({ runId }) => runId === activeRun),
    busy,
    forgetBusy: () => setBusy(undefined),
  };
}

type WirePart =
  | { type: "text"; text: string }
  | { type: "file"; media_type: string; filename?: string; source: { kind: "base64"; data: string } };

/** A text alone goes as a text. */
function wireInput(parts: readonly UserPart[]): string | WirePart[] {
  const [first] = parts;
  if (parts.length === 1 && first?.type === "text") return first.text;
  return parts.flatMap((part): WirePart[] => {
    if (part.type === "text") return [{ type: "text", text: part.text }];
    const { media_type, filename, source } = part;
    if (source.kind !== "base64") return []; // what people add here is always by value
    return [{ type: "file", media_type, source, ...(filename !== undefined && { filename }) }];
  });
}
