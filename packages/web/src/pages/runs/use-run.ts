import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { client } from "../../api.ts";
import { type StreamState, useEvents } from "../../events.ts";
import { isRunEvent, RunLog } from "./run-log.ts";
import { isOver } from "./words.ts";

export const runQuery = (id: string) =>
  queryOptions({
    queryKey: ["runs", "one", id],
    queryFn: ({ signal }) => client.getRun({ params: { id } }, { signal }),
    // The stream says when to ask again; this is for what it does not tell, like a worker that takes it up.
    refetchInterval: ({ state }) => (state.data && isOver(state.data) ? false : 15_000),
  });

const eventsQuery = (id: string) =>
  queryOptions({
    queryKey: ["runs", "events", id],
    queryFn: ({ signal }) => client.listEvents({ params: { id }, query: { children: "true" } }, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 30_000, // ten thousand events are not kept for somebody who went on
  });

/** Asked for at once, side by side: a big run is there when its page is. */
export function useRun(id: string) {
  const run = useQuery(runQuery(id));
  const stored = useQuery(eventsQuery(id));
  const [log] = useState(() => new RunLog(id));
  const version = useSyncExternalStore(log.subscribe, log.version);
  const loaded = stored.data;
  // Before anything is painted, so that rows are there with the page.
  const [taken, setTaken] = useState<unknown>();
  if (loaded !== undefined && taken !== loaded) {
    log.load(loaded.items);
    setTaken(loaded);
  }
  const state = useLive(id, log, {
    from: loaded === undefined ? undefined : log.waterfall.seq,
    // What did not fit into one answer comes by the stream as well.
    wanted: run.data !== undefined && (!isOver(run.data) || loaded?.next != null),
  });
  return { run, events: stored, log, version, state };
}

const REFRESH_MS = 1_000;

function useLive(
  id: string,
  log: RunLog,
  { from, wanted }: { from: number | undefined; wanted: boolean },
): StreamState {
  const queries = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // Where it begins must not change with what it brings, and once begun it is read to its end.
  const [begin, setBegin] = useState<number>();
  if (begin === undefined && from !== undefined && wanted) setBegin(from);
  useEffect(() => () => clearTimeout(timer.current), []);
  const refresh = () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      void queries.invalidateQueries({ queryKey: ["runs", "one", id] });
    }, REFRESH_MS);
  };
  const query = { after: String(begin) };
  const url =
    begin === undefined || log.ended ? undefined : client.url("streamRun", { params: { id }, query });
  return useEvents(url, {
    onEvent: ({ data }) => {
      if (isRunEvent(data) && log.add(data) && REFRESHING.has(data.type)) refresh();
    },
  });
}

/** After these the record of the run says something else. */
const REFRESHING: ReadonlySet<string> = new Set(["approval", "status", "step", "subagent"]);
