import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import type { Answer } from "@trackside/server/client";
import { ReactFlowProvider } from "@xyflow/react";
import { type ReactNode, useMemo, useState } from "react";
import type { JsonObject } from "trackside/schema";
import { client } from "../../api.ts";
import { useKeys } from "../../keys/use-keys.ts";
import { numberOf, one, useSearchState } from "../../search.ts";
import { useMay, WHO_MAY } from "../../session.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { LockIcon, MoreIcon, PlayIcon } from "../../ui/icons.tsx";
import { QueryState } from "../../ui/query-state.tsx";
import { RunStatusBadge } from "../../ui/run-status.tsx";
import { Loading } from "../../ui/states.tsx";
import { Tag } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { useWide } from "../runs/wide.ts";
import type { Definition } from "./draft/definition.ts";
import { catalogQuery } from "./editor/catalog.ts";
import { WorkflowEditor } from "./editor/workflow-editor.tsx";
import { Frame } from "./frame.tsx";
import { ReadOnlyView } from "./read-only-view.tsx";
import { RunDialog } from "./run/run-dialog.tsx";
import { RunView } from "./run/run-view.tsx";
import { WorkflowMenu } from "./workflow-actions.tsx";

type Workflow = Answer<"getWorkflow">;

/** What does it do, and how is it going? The canvas: to draw on, or with a run or an older version on it to read. */
export function WorkflowPage() {
  const { name } = useParams({ from: "/signed-in/workflows/$name" });
  const [search] = useSearchState();
  const navigate = useNavigate();
  const run = one(search, "run");
  const version = numberOf(search, "version");
  const workflow = useQuery({
    queryKey: ["workflows", "one", name],
    queryFn: ({ signal }) => client.getWorkflow({ params: { name } }, { signal }),
    refetchInterval: 15_000,
  });
  const { data } = workflow;
  return (
    <Frame
      title={name}
      heading={
        <span className="flex min-w-0 flex-wrap items-center gap-2">
          <span className="min-w-0 break-words">{name}</span>
          {data && <Tag>{data.source === "code" ? "config" : `v${version ?? data.version}`}</Tag>}
        </span>
      }
      lead={data && run === undefined && <Lead workflow={data} />}
      actions={
        data && (
          <WorkflowMenu
            workflow={data}
            trigger={<IconButton icon={MoreIcon} label={`Actions on ${name}`} />}
            onGone={() => void navigate({ to: "/workflows" })}
          />
        )
      }
    >
      {run !== undefined ? (
        <RunView key={run} name={name} id={run} />
      ) : version !== undefined ? (
        <OldVersion name={name} version={version} />
      ) : (
        <QueryState query={workflow} what={`Workflow ${name}`} loading={<Loading shape="plot" />}>
          {(found) => <Current key={found.id} workflow={found} />}
        </QueryState>
      )}
    </Frame>
  );
}

function Lead({ workflow: { last_run, name, source, updated_by, updated_at } }: { workflow: Workflow }) {
  return (
    <span className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
      {last_run ? (
        <Link
          to="/workflows/$name"
          params={{ name }}
          search={{ run: last_run.id } as never} // every route reads a plain search
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
      {source === "stored" && (
        <Link to="/workflows/$name/versions" params={{ name }} className="hover:underline max-md:hidden">
          saved by {updated_by} <Time at={updated_at} className="min-w-0" />
        </Link>
      )}
    </span>
  );
}

function Current({ workflow }: { workflow: Workflow }) {
  const wide = useWide();
  const may = useMay("admin");
  const catalog = useQuery(catalogQuery);
  const definition = workflow.definition as Definition; // checked when it was saved
  const readOnly = !may || workflow.source === "code";
  if (!wide)
    return (
      <ReactFlowProvider>
        <ReadOnlyView
          definition={definition}
          label={`Canvas of ${workflow.name}`}
          above={
            <div className="flex items-center justify-between gap-2 px-4 py-2">
              <p className="text-sm text-muted">To edit it, open it on a wider screen.</p>
              <RunButton workflow={workflow} definition={definition} dirty={false} save={async () => true} />
            </div>
          }
        />
      </ReactFlowProvider>
    );
  return (
    <QueryState query={catalog} what="What nodes may be made of" loading={<Loading shape="plot" />}>
      {(found) => (
        <WorkflowEditor
          record={workflow}
          start={definition}
          catalog={found}
          readOnly={readOnly}
          notice={readOnly && <Notice workflow={workflow} />}
          actions={(state) => <RunButton workflow={workflow} {...state} />}
        />
      )}
    </QueryState>
  );
}

function RunButton({
  workflow,
  definition,
  dirty,
  save,
}: {
  workflow: Workflow;
  definition: Definition;
  dirty: boolean;
  save(): Promise<boolean>;
}) {
  const [open, setOpen] = useState(false);
  const may = useMay("operate");
  const input = useMemo(() => (definition.input ?? null) as JsonObject | null, [definition.input]); // JSON Schema is JSON
  useKeys("Workflow", [{ keys: "r", what: "Run it", run: () => setOpen(true), enabled: may }]);
  return (
    <>
      <Button
        icon={PlayIcon}
        disabled={!may}
        title={may ? undefined : `${WHO_MAY.operate} can`}
        onClick={() => setOpen(true)}
      >
        Run
      </Button>
      {open && (
        <RunDialog
          open
          name={workflow.name}
          input={input}
          dirty={dirty}
          onClose={() => setOpen(false)}
          onSaveFirst={save}
        />
      )}
    </>
  );
}

function OldVersion({ name, version }: { name: string; version: number }) {
  const query = useQuery({
    queryKey: ["workflows", "versions", name, version],
    queryFn: ({ signal }) => client.getWorkflowVersion({ params: { name, version } }, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <QueryState query={query} what={`Version ${version} of ${name}`} loading={<Loading shape="plot" />}>
      {(found) => (
        <ReactFlowProvider>
          <ReadOnlyView
            definition={found.definition as Definition} // checked when it was saved
            label={`Version ${version} of ${name}`}
            above={
              <Strip>
                Version {version}, as {found.by} saved it <Time at={found.created_at} className="min-w-0" />.
                <Link to="/workflows/$name" params={{ name }} className="text-accent underline">
                  Show the current one
                </Link>
              </Strip>
            }
          />
        </ReactFlowProvider>
      )}
    </QueryState>
  );
}

function Strip({ children }: { children: ReactNode }) {
  return (
    <p className="flex flex-wrap items-center gap-2 border-b border-line bg-panel px-4 py-1.5 text-sm md:px-6">
      <LockIcon />
      {children}
    </p>
  );
}

function Notice({ workflow }: { workflow: Workflow }) {
  return (
    <Strip>
      {workflow.source === "code" ? (
        <span>
          Read-only: it is defined in code, in <code className="font-mono">workflows</code> of{" "}
          <code className="font-mono">trackside.config.ts</code>. Change it there, or clone it to edit the
          copy here.
        </span>
      ) : (
        `Read-only for you. ${WHO_MAY.admin} can edit it.`
      )}
    </Strip>
  );
}
