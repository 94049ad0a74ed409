import { useQuery } from "@tanstack/react-query";
import { client } from "../../api.ts";
import { JsonView } from "../../ui/json-view.tsx";
import { QueryState } from "../../ui/query-state.tsx";
import { Loading } from "../../ui/states.tsx";
import type { RunDetail } from "./types.ts";
import { isOver } from "./words.ts";

/** Everything there is of the run, as the download has it. */
export function JsonTab({ run }: { run: RunDetail }) {
  const query = useQuery({
    queryKey: ["runs", "export", run.id, isOver(run)],
    queryFn: ({ signal }) => client.exportRun({ params: { id: run.id } }, { signal }),
    gcTime: 30_000,
  });
  return (
    <QueryState query={query} what="The run's JSON" loading={<Loading shape="lines" />}>
      {(value) => (
        <div className="flex flex-col gap-3">
          {!isOver(run) && (
            <p className="text-muted">The run is under way: this is how far it was when you opened it.</p>
          )}
          <JsonView value={value} label="Run" open={2} />
        </div>
      )}
    </QueryState>
  );
}
