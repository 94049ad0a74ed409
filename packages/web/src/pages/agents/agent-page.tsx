import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import type { Answer } from "@trackside/server/client";
import type { JsonObject } from "trackside/schema";
import { client } from "../../api.ts";
import { plural } from "../../format/number.ts";
import { useMay, WHO_MAY } from "../../session.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { LockIcon, MoreIcon, PlaygroundIcon } from "../../ui/icons.tsx";
import { Page } from "../../ui/page.tsx";
import { QueryState } from "../../ui/query-state.tsx";
import { RunStatusBadge } from "../../ui/run-status.tsx";
import { Loading } from "../../ui/states.tsx";
import { Tag } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { PlanIcon } from "../plans/plan-icon.tsx";
import { AgentMenu } from "./agent-actions.tsx";
import { AgentEditor } from "./editor/agent-editor.tsx";
import { registryQuery } from "./editor/registry.ts";

type Agent = Answer<"getAgent">;

/** What may it do? The definition, to read or to edit. */
export function AgentPage() {
  const { name } = useParams({ from: "/signed-in/agents/$name" });
  const navigate = useNavigate();
  const may = useMay("admin");
  const agent = useQuery({
    queryKey: ["agents", "one", name],
    queryFn: ({ signal }) => client.getAgent({ params: { name } }, { signal }),
    refetchInterval: 15_000,
  });
  const registry = useQuery(registryQuery);
  const { data } = agent;
  return (
    <Page
      title={name}
      heading={
        <span className="flex min-w-0 flex-wrap items-center gap-2">
          <span className="min-w-0 break-words">{name}</span>
          {data && <Tag>{data.source === "code" ? "config" : `v${data.version}`}</Tag>}
        </span>
      }
      lead={data && <Lead agent={data} />}
      actions={
        data && (
          <>
            <Button
              icon={PlaygroundIcon}
              onClick={() => void navigate({ to: "/playground/$agent", params: { agent: name } })}
            >
              Talk to it
            </Button>
            <Button
              icon={PlanIcon}
              onClick={() => void navigate({ to: "/agents/$name/plan", params: { name } })}
            >
              Plan
            </Button>
            <AgentMenu
              agent={data}
              trigger={<IconButton icon={MoreIcon} label={`Actions on ${name}`} />}
              onGone={() => void navigate({ to: "/agents" })}
            />
          </>
        )
      }
    >
      <QueryState query={agent} what={`Agent ${name}`} loading={<Loading shape="form" />}>
        {(found) => (
          <QueryState query={registry} what="What agents may be made of" loading={<Loading shape="form" />}>
            {(made) => (
              <AgentEditor
                key={found.id}
                record={found}
                start={{
                  definition: found.definition as JsonObject, // the API sends JSON
                  autonomous: found.autonomous_mode,
                }}
                registry={made}
                readOnly={!may || found.source === "code"}
                notice={<Notice agent={found} may={may} />}
              />
            )}
          </QueryState>
        )}
      </QueryState>
    </Page>
  );
}

function Lead({ agent }: { agent: Agent }) {
  const { last_run, pending_approvals, source, updated_by, updated_at, name } = agent;
  return (
    <span className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
      {last_run ? (
        <Link
          to="/runs/$id"
          params={{ id: last_run.id }}
          className="inline-flex items-center gap-2 hover:underline"
        >
          <RunStatusBadge status={last_run.status} />
          <span>
            last run <Time at={last_run.created_at} className="min-w-0" />
          </span>
        </Link>
      ) : (
        <span>Never run</span>
      )}
      {pending_approvals > 0 && (
        <Link
          to="/inbox"
          search={{ agent: name } as never} // every route reads a plain search
          className="font-medium text-amber underline"
        >
          {plural(pending_approvals, "call")} to decide
        </Link>
      )}
      {source === "stored" && (
        <Link to="/agents/$name/versions" params={{ name }} className="hover:underline">
          saved by {updated_by} <Time at={updated_at} className="min-w-0" />
        </Link>
      )}
    </span>
  );
}

function Notice({ agent, may }: { agent: Agent; may: boolean }) {
  if (agent.source === "stored" && may) return null;
  return (
    <p className="mb-3 flex items-start gap-2 rounded-md border border-line bg-panel px-3 py-2">
      <LockIcon className="mt-0.5" />
      <span className="min-w-0">
        {agent.source === "code" ? (
          <>
            Read-only: it is defined in code, in <code className="font-mono text-sm">agents</code> of{" "}
            <code className="font-mono text-sm">trackside.config.ts</code>. Change it there, or clone it to
            edit the copy here.
          </>
        ) : (
          `Read-only for you. ${WHO_MAY.admin} can edit it.`
        )}
      </span>
    </p>
  );
}
