import { useMemo } from "react";
import type { Definition } from "../workflows/draft/definition.ts";
import { type NodeView, nodesOf, workflowOf } from "./nodes.ts";
import type { RunLog } from "./run-log.ts";
import type { RunDetail } from "./types.ts";
import { isOver } from "./words.ts";

/** The graph of a workflow's run and what became of its nodes. */
export interface Graph {
  readonly workflow: Definition;
  readonly nodes: readonly NodeView[];
}

/** Undefined for an agent's run, and where the definition is gone. */
export function useGraph(run: RunDetail, log: RunLog, version: number): Graph | undefined {
  const workflow = useMemo(() => workflowOf(run), [run]);
  const over = isOver(run);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the log grows in place, and its version tells
  return useMemo(
    () => workflow && { workflow, nodes: nodesOf(workflow, log.waterfall, run.id, over) },
    [workflow, log, version, run.id, over],
  );
}
