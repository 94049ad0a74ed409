import { Link } from "@tanstack/react-router";
import { JsonView } from "../../ui/json-view.tsx";
import { Empty } from "../../ui/states.tsx";
import type { RunDetail } from "./types.ts";

/** The definition the run is pinned to, which the agent's may have moved on from. */
export function DefinitionTab({ run }: { run: RunDetail }) {
  if (run.definition === null)
    return (
      <Empty title="The definition is gone">It was not kept with the run, or its agent runs elsewhere.</Empty>
    );
  return (
    <div className="flex flex-col gap-3">
      <p className="measure text-muted">
        As it was when the run began, and as the run goes on with it.{" "}
        <Link to="/agents/$name/versions" params={{ name: run.agent }} className="text-accent underline">
          Versions of {run.agent}
        </Link>
        {run.definition_digest && (
          <>
            {" · digest "}
            <code className="font-mono text-xs break-all">{run.definition_digest}</code>
          </>
        )}
      </p>
      <JsonView value={run.definition} label="Definition" />
    </div>
  );
}
