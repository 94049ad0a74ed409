import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Answer } from "@trackside/server/client";
import { client } from "../../api.ts";
import { PlaygroundIcon, PlusIcon } from "../../ui/icons.tsx";
import { Page } from "../../ui/page.tsx";
import { QueryState } from "../../ui/query-state.tsx";
import { RunStatusBadge } from "../../ui/run-status.tsx";
import { Empty } from "../../ui/states.tsx";
import { Time } from "../../ui/time.tsx";
import { suggestionsFor } from "./suggestions.ts";

type Agent = Answer<"listAgents">["items"][number];

export const agentsQuery = {
  queryKey: ["agents", "playground"],
  queryFn: ({ signal }: { signal: AbortSignal }) => client.listAgents({ query: { limit: 200 } }, { signal }),
};

/** Whom to talk to. */
export function AgentPicker() {
  const query = useQuery(agentsQuery);
  return (
    <Page title="Playground" lead="Talk to an agent and watch what it does.">
      <QueryState query={query} what="Agents">
        {({ items }) =>
          items.length === 0 ? (
            <Empty
              title="No agents yet"
              icon={PlaygroundIcon}
              action={
                <Link
                  to="/agents/new"
                  className="inline-flex h-8 items-center gap-1.5 rounded-md bg-accent-fill px-3 font-medium text-on-accent"
                >
                  <PlusIcon /> Make an agent
                </Link>
              }
              code={'defineConfig({ agents: [new Agent({ name: "clerk", model: "openai:gpt-5" })] })'}
            >
              Agents are made in the editor, or in the configuration.
            </Empty>
          ) : (
            <ul className="overflow-hidden rounded-md border border-line">
              {items.map((agent) => (
                <AgentRow key={agent.name} agent={agent} />
              ))}
            </ul>
          )
        }
      </QueryState>
    </Page>
  );
}

function AgentRow({ agent: { name, definition, last_run, pending_approvals } }: { agent: Agent }) {
  const model = definition["model"];
  const instructions = definition["instructions"];
  const suggestions = suggestionsFor(name);
  return (
    <li className="border-line px-3 py-3 not-first:border-t">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Link
          to="/playground/$agent"
          params={{ agent: name }}
          className="rounded-sm font-semibold text-ink underline-offset-2 hover:underline"
        >
          {name}
        </Link>
        {typeof model === "string" && <span className="font-mono text-xs text-faint">{model}</span>}
        <span className="ml-auto flex items-center gap-3 text-xs text-muted">
          {pending_approvals > 0 && <span className="text-amber">{pending_approvals} waiting for you</span>}
          {last_run && (
            <>
              <RunStatusBadge status={last_run.status} />
              <Time at={last_run.created_at} className="text-right" />
            </>
          )}
        </span>
      </div>
      {typeof instructions === "string" && instructions && (
        <p className="measure mt-1 line-clamp-2 text-sm text-muted">{instructions}</p>
      )}
      <div className="mt-2 flex flex-wrap gap-2">
        {suggestions.map((text) => (
          <Link
            key={text}
            to="/playground/$agent"
            params={{ agent: name }}
            search={{ say: text }}
            className="inline-flex min-h-7 items-center rounded-md border border-line px-2 text-sm hover:bg-panel coarse:min-h-10"
          >
            {text}
          </Link>
        ))}
        {suggestions.length === 0 && (
          <Link
            to="/playground/$agent"
            params={{ agent: name }}
            className="inline-flex min-h-7 items-center rounded-md border border-line px-2 text-sm hover:bg-panel coarse:min-h-10"
          >
            Talk to {name}
          </Link>
        )}
      </div>
    </li>
  );
}
