import { Link } from "@tanstack/react-router";
import { JsonView } from "../../ui/json-view.tsx";
import { Empty } from "../../ui/states.tsx";
import { workflowOf } from "./nodes.ts";
import type { RunDetail } from "./types.ts";

/** The definition the run is pinned to, which the agent's or the workflow's may have moved on from. */
export function DefinitionTab({ run }: { run: RunDetail }) {
  const workflow = workflowOf(run);
  if (run.definition === null)
    return (
      <Empty title="The definition is gone">
        It was not kept with the run, or its {run.kind} runs elsewhere.
      </Empty>
    );
  return (
    <div className="flex flex-col gap-3">
      <p className="measure text-muted">
        As it was when the run began, and as the run goes on with it.{" "}
        {run.kind === "workflow" ? <OfWorkflow run={run} /> : <OfAgent run={run} />}
        {run.definition_digest && (
          <>
            {" · digest "}
            <code className="font-mono text-xs break-all">{run.definition_digest}</code>
          </>
        )}
      </p>
      <JsonView value={workflow ?? run.definition} label="Definition" />
    </div>
  );
}

const LINK = "text-accent underline";

function OfAgent({ run }: { run: RunDetail }) {
  return (
    <Link to="/agents/$name/versions" params={{ name: run.agent }} className={LINK}>
      Versions of {run.agent}
    </Link>
  );
}

function OfWorkflow({ run }: { run: RunDetail }) {
  return (
    <>
      <CanvasLink run={run} className={LINK}>
        Open on canvas
      </CanvasLink>
      {" · "}
      <Link to="/workflows/$name/versions" params={{ name: run.agent }} className={LINK}>
        Versions of {run.agent}
      </Link>
    </>
  );
}

/** The graph it is pinned to, with how each node stands. */
export function CanvasLink({
  run,
  className,
  children,
}: {
  run: Pick<RunDetail, "id" | "agent">;
  className: string;
  children: React.ReactNode;
}) {
  return (
    <Link
      to="/workflows/$name"
      params={{ name: run.agent }}
      search={{ run: run.id } as never} // every route has plain searches
      className={className}
    >
      {children}
    </Link>
  );
}
