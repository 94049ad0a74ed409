import type { Failure, Json } from "trackside/schema";
import { type Definition, edgesOf, type Kind, titleOf } from "../workflows/draft/definition.ts";
import { summaryOf } from "../workflows/draft/words.ts";
import type { EventOf, RunDetail, Usage } from "./types.ts";
import type { Row, Waterfall } from "./waterfall.ts";

export type NodeState = "idle" | "running" | "waiting" | "done" | "failed" | "skipped" | "stopped";

/** What became of a node of a workflow in a run. */
export interface NodeView {
  readonly id: string;
  readonly title: string;
  readonly kind: Kind;
  /** What it does, in a line: "writer: Write the notes". */
  readonly does: string;
  readonly state: NodeState;
  /** It was over in the run that this one was retried from. */
  readonly isReused: boolean;
  readonly attempt: number;
  readonly start: number | null;
  readonly end: number | null;
  readonly usage: Usage | undefined;
  readonly output: Json | undefined;
  readonly failure: Failure | undefined;
  /** It failed, and an edge says what to do then. */
  readonly isHandled: boolean;
  /** Why it was skipped. */
  readonly reason: string | undefined;
  readonly port: EventOf<"node">["port"];
  /** The run of its agent or workflow; of several tries the last one's. */
  readonly childRunId: string | undefined;
  /** Its own question, decided or not. */
  readonly approvalId: string | undefined;
  /** Questions that are open, its own and of what runs in it. */
  readonly asks: readonly string[];
  readonly items: number | undefined;
  readonly itemsFailed: number | undefined;
  /** Where the timeline has it. */
  readonly row: Row | undefined;
}

/** The graph that a run is pinned to, where an agent's definition would be; undefined for an agent's run. */
export function workflowOf({ definition }: Pick<RunDetail, "definition">): Definition | undefined {
  const workflow = definition?.["workflow"];
  return typeof workflow === "object" && workflow !== null ? (workflow as Definition) : undefined; // checked when it began
}

/** Every node of the graph, in the order of its edges, with what the events say of it. */
export function nodesOf(
  workflow: Definition,
  waterfall: Waterfall,
  runId: string,
  isOver: boolean,
): NodeView[] {
  return inOrder(workflow).map((id) => nodeOf(workflow, id, waterfall.rowOfNode(id, runId), isOver));
}

function nodeOf(workflow: Definition, id: string, row: Row | undefined, isOver: boolean): NodeView {
  const node = workflow.nodes[id];
  if (node === undefined) throw new Error(`there is no node "${id}"`);
  const last = row?.events.findLast((event) => event.type === "node");
  const over = last && ENDS.has(last.state) ? last : undefined;
  const asks = [...(row?.asks ?? [])];
  return {
    id,
    title: titleOf(id, node),
    kind: node.kind,
    does: summaryOf(node),
    state: stateOf(last, asks.length > 0, isOver),
    isReused: last?.reused === true,
    attempt: last?.attempt ?? 1,
    start: row?.start ?? null,
    end: over || isOver ? (row?.end ?? null) : null,
    usage: last?.usage,
    output: over?.output,
    failure: last?.failure,
    isHandled: over?.state === "failed" && isHandled(workflow, id, over.port),
    reason: over?.reason,
    port: over?.port,
    childRunId: last?.child_run_id ?? (row?.tally ? undefined : childOf(row)),
    approvalId: approvalOf(row),
    asks,
    items: over?.items ?? (row?.tally && row.tally.begun > 0 ? row.tally.begun : undefined),
    itemsFailed: over?.items_failed ?? row?.tally?.failed,
    row,
  };
}

const ENDS: ReadonlySet<string> = new Set(["completed", "failed", "skipped"]);

function stateOf(last: EventOf<"node"> | undefined, isAsking: boolean, isOver: boolean): NodeState {
  if (last === undefined) return "idle";
  if (last.state === "completed") return "done";
  if (last.state === "skipped") return "skipped";
  // What was under way when somebody stopped the run did not fail by itself.
  if (last.state === "failed") return last.failure?.code === "cancelled" ? "stopped" : "failed";
  if (isOver) return "stopped";
  return isAsking ? "waiting" : "running";
}

/** The last run that began in it. */
function childOf(row: Row | undefined): string | undefined {
  const event = row?.children.findLast(({ kind }) => kind === "subagent")?.events[0];
  return event?.type === "subagent" ? event.child_run_id : undefined;
}

function approvalOf(row: Row | undefined): string | undefined {
  const event = row?.children.findLast(({ kind }) => kind === "approval")?.events[0];
  return event?.type === "approval" ? event.approval_id : undefined;
}

function isHandled(workflow: Definition, id: string, port: string | undefined): boolean {
  return edgesOf(workflow).some(({ from, when }) => from === id && when === port);
}

/** What leads to a node comes before it; otherwise as it is written. */
export function inOrder(workflow: Definition): string[] {
  const ids = Object.keys(workflow.nodes);
  const open = new Map(ids.map((id) => [id, 0]));
  const after = new Map<string, string[]>();
  for (const { from, to } of edgesOf(workflow)) {
    open.set(to, (open.get(to) ?? 0) + 1);
    after.set(from, [...(after.get(from) ?? []), to]);
  }
  const place = new Map(ids.map((id, at) => [id, at]));
  const ordered = ids.filter((id) => open.get(id) === 0);
  for (const id of ordered) {
    const free = (after.get(id) ?? []).filter((next) => {
      const left = (open.get(next) ?? 0) - 1;
      open.set(next, left);
      return left === 0;
    });
    ordered.push(...free.sort((a, b) => (place.get(a) ?? 0) - (place.get(b) ?? 0))); // read to its end as it grows
  }
  return ordered;
}

/** What a retry from a node takes over, and what it runs (again): as the engine will do it. */
export function retryPlan(
  workflow: Definition,
  nodes: readonly Pick<NodeView, "id" | "state" | "isHandled">[],
  chosen: string,
): { readonly again: readonly string[]; readonly reused: readonly string[] } {
  // Those that never ran, or failed with nothing to go on by, run in any case: the run would fail of them again.
  const open = nodes.filter(({ state, isHandled: handled }) => !SETTLED.has(state) && !handled);
  const anew = new Set([chosen, ...open.map(({ id }) => id)]);
  const after = new Map<string, string[]>();
  for (const { from, to } of edgesOf(workflow)) after.set(from, [...(after.get(from) ?? []), to]);
  for (const id of anew) for (const next of after.get(id) ?? []) anew.add(next); // a set is read to its end as it grows
  const kept = nodes.filter(({ id, state }) => !anew.has(id) && state !== "skipped");
  return {
    again: nodes.filter(({ id }) => anew.has(id)).map(({ id }) => id),
    reused: kept.map(({ id }) => id),
  };
}

const SETTLED: ReadonlySet<NodeState> = new Set(["done", "skipped"]);

/** Where a run stands in the one above: which node it is of, which try, which entry. Undefined for a sub-agent's. */
export function placeIn(
  id: string,
  parentId: string,
): { node: string; attempt: number; item?: number; part?: number } | undefined {
  const found = /^([A-Za-z][\w-]*)\.(\d+)(?:\.(item|part)(\d+))?$/.exec(
    id.startsWith(`${parentId}.`) ? id.slice(parentId.length + 1) : "",
  );
  if (found === null) return undefined;
  const [, node = "", attempt = "1", what, number] = found;
  const at = Number(number);
  return {
    node,
    attempt: Number(attempt),
    ...(what === "item" && { item: at }),
    ...(what === "part" && { part: at }),
  };
}
