import { type QueryClient, queryOptions, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { client } from "../../api.ts";
import { useEvents } from "../../events.ts";
import { batchPerFrame } from "./frames.ts";
import { emptyTree, isOver, type RunEvent, readEvents, rootOf, type Tree } from "./transcript.ts";

/** A run that is over, from its record. */
export function treeQuery(runId: string) {
  return queryOptions({
    queryKey: ["playground", "tree", runId],
    queryFn: async ({ signal }) => {
      const { items } = await client.listEvents(
        { params: { id: runId }, query: { children: "true" } },
        { signal },
      );
      return readEvents(emptyTree(runId), items);
    },
    // What is over does not change.
    staleTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
    retry: false,
  });
}

export function knownTree(queryClient: QueryClient, runId: string): Tree | undefined {
  return queryClient.getQueryData(treeQuery(runId).queryKey);
}

/**
 * A run under way, from its beginning: the stream tells what there was, then what happens. Events are read once per frame,
 * however fast they come. When the run is over its tree is kept for whoever shows it next, and `onEnd` is told.
 */
export function useLiveTree(runId: string | undefined, onEnd: (runId: string) => void): Tree | undefined {
  const queryClient = useQueryClient();
  const [tree, setTree] = useState<Tree>();
  const [endedRun, setEndedRun] = useState<string>();
  const latest = useRef(onEnd);
  useEffect(() => {
    latest.current = onEnd;
  });
  const reader = useRef<ReturnType<typeof batchPerFrame<RunEvent>>>(undefined);
  useEffect(() => {
    if (runId === undefined) return;
    let current = emptyTree(runId);
    setTree(current);
    const batch = batchPerFrame<RunEvent>((events) => {
      const next = readEvents(current, events);
      if (next === current) return;
      current = next;
      setTree(next);
      if (!isOver(rootOf(next))) return;
      queryClient.setQueryData(treeQuery(runId).queryKey, next);
      setEndedRun(runId);
      latest.current(runId);
    });
    reader.current = batch;
    return () => {
      batch.stop();
      reader.current = undefined;
    };
  }, [runId, queryClient]);
  const isListening = runId !== undefined && endedRun !== runId;
  useEvents(isListening ? client.url("streamRun", { params: { id: runId } }) : undefined, {
    onEvent: ({ data }) => {
      const event = eventIn(data, runId);
      if (event !== undefined) reader.current?.add(event);
    },
    onEnd: () => runId !== undefined && latest.current(runId),
  });
  return tree?.root === runId ? tree : undefined;
}

/** Events of this run and what is below it; whatever else a stream tells is not for the transcript. */
function eventIn(data: unknown, runId: string | undefined): RunEvent | undefined {
  if (typeof data !== "object" || data === null || !("run_id" in data) || !("type" in data)) return undefined;
  const { run_id } = data;
  if (runId === undefined || typeof run_id !== "string") return undefined;
  if (run_id !== runId && !run_id.startsWith(`${runId}.`)) return undefined;
  return data as RunEvent; // the contract says what is in it
}
