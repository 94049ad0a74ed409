import { useQuery } from "@tanstack/react-query";
import { client } from "../../api.ts";
import { workflowOf } from "./nodes.ts";
import type { RunDetail } from "./types.ts";

/** Versions before the newest are looked through this far. */
const LOOKED_AT = 20;

/** Which version of its workflow the run is pinned to, as far as it is found. */
export function WorkflowVersion({ run }: { run: RunDetail }) {
  const pinned = workflowOf(run);
  const query = useQuery({
    queryKey: ["workflows", "version-of", run.agent, run.definition_digest],
    queryFn: ({ signal }) => versionOf(run.agent, sameAlways(pinned), signal),
    enabled: pinned !== undefined,
    staleTime: 60_000,
    retry: false,
  });
  return query.data === undefined ? null : <>{query.data},</>;
}

async function versionOf(name: string, pinned: string, signal: AbortSignal): Promise<string> {
  const now = await client.getWorkflow({ params: { name } }, { signal });
  const isSame = ({ definition }: { definition: unknown }) => sameAlways(definition) === pinned;
  if (now.source === "code") return isSame(now) ? "in code" : "changed since";
  if (isSame(now)) return String(now.version);
  const { items } = await client.listWorkflowVersions({ params: { name } }, { signal });
  const earlier = items
    .filter(({ version }) => version !== now.version)
    .sort((a, b) => b.version - a.version);
  for (const { version } of earlier.slice(0, LOOKED_AT))
    if (isSame(await client.getWorkflowVersion({ params: { name, version } }, { signal })))
      return `${version}, of ${now.version} now`;
  return "changed since";
}

/** JSON that is the same whatever the order of keys, and wherever nodes stand on the canvas: no run cares for it. */
function sameAlways(value: unknown): string {
  return JSON.stringify(value, (key, one: unknown) => {
    if (key === "position") return undefined;
    if (typeof one !== "object" || one === null || Array.isArray(one)) return one;
    return Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
