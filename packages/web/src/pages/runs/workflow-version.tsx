import { useQuery } from "@tanstack/react-query";
import { client } from "../../api.ts";
import { workflowOf } from "./nodes.ts";
import type { RunDetail } from "./types.ts";

/** Whether the workflow is still what the run is pinned to. */
export function WorkflowVersion({ run }: { run: RunDetail }) {
  const pinned = workflowOf(run);
  const query = useQuery({
    queryKey: ["workflows", "one", run.agent, "version"],
    queryFn: ({ signal }) => client.getWorkflow({ params: { name: run.agent } }, { signal }),
    enabled: pinned !== undefined,
    staleTime: 60_000,
    retry: false,
  });
  const now = query.data;
  if (pinned === undefined || now === undefined) return null;
  // Where nodes stand on the canvas makes a version, and no difference to a run.
  if (told(now.definition) !== told(pinned)) return <>changed since,</>;
  return now.source === "code" ? <>in code,</> : <>{now.version},</>;
}

/** JSON that is the same whatever the order of keys. */
function told(value: unknown): string {
  return JSON.stringify(value, (key, one: unknown) => {
    if (key === "position") return undefined;
    if (typeof one !== "object" || one === null || Array.isArray(one)) return one;
    return Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
