import { type LogEntry, TracksideError } from "trackside";
import { NO_USAGE, type Note, type TurnState } from "trackside/loop";
import type { WorkflowDefinition } from "trackside/schema";
import { type LoadedRun, loopRows } from "../journal/run-records.ts";
import type { Again, RetryFrom } from "./retry.ts";

type Flow = NonNullable<TurnState["flow"]>;

/** A workflow, from one of its nodes: it and what follows it run again, what else completed is taken as it is (W4, X13). */
export function againFrom(
  { commits, row }: LoadedRun,
  workflow: WorkflowDefinition,
  messages: ReadonlyMap<string, { readonly message: LogEntry }>,
  { step, node }: RetryFrom,
): Again {
  if (step !== undefined)
    throw new TracksideError("config_invalid", "fromStep: a workflow's run has no steps; give `node`.");
  const last = loopRows(commits).findLast(({ ended, state }) => ended ?? state);
  const ended = last?.ended ?? last?.state;
  if (ended?.flow === undefined)
    throw new TracksideError(
      "config_invalid",
      `The run ${row.id} ended before its first node. Start it anew.`,
    );
  const { nodes } = ended.flow;
  const chosen = node === undefined ? [] : [known(workflow, node)];
  const anew = following(workflow, [...chosen, ...unfinished(workflow, nodes)]);
  const kept = Object.entries(nodes).filter(([id]) => !anew.has(id));
  const flow: Flow = { settled: kept.length, nodes: Object.fromEntries(kept) };
  const outputs = kept.flatMap(([, { message_id }]) => message_id ?? []);
  return {
    state: {
      ...ended,
      phase: "stepping",
      log: ended.tail_at, // its input; what it came to is not said yet
      usage: NO_USAGE,
      outcome: null,
      flow,
    },
    said: [
      { type: "status", status: "starting" },
      { type: "aside", message_ids: outputs },
      ...kept.flatMap(([id, over]) => reused(workflow, id, over)),
    ],
    kept: outputs.flatMap((id) => messages.get(id)?.message ?? []),
  };
}

function known({ nodes }: WorkflowDefinition, node: string): string {
  if (Object.hasOwn(nodes, node)) return node;
  const names = Object.keys(nodes).slice(0, 50).join(", ");
  throw new TracksideError("config_invalid", `node: one of ${names} expected, "${node}" given`);
}

/** Those that never ran, or failed with nothing to go on by: the run would fail of them again. */
function unfinished({ nodes: all, edges }: WorkflowDefinition, nodes: Flow["nodes"]): readonly string[] {
  return Object.keys(all).filter((id) => {
    const over = nodes[id];
    const isHandled = edges.some(({ from, when }) => from === id && when === over?.port);
    return over === undefined || (over.state === "failed" && !isHandled);
  });
}

/** Nodes, and all that can be come to from them. */
function following({ edges }: WorkflowDefinition, from: readonly string[]): ReadonlySet<string> {
  const after = new Map<string, string[]>();
  for (const { from: one, to } of edges) after.set(one, [...(after.get(one) ?? []), to]);
  const found = new Set(from);
  for (const id of found) for (const next of after.get(id) ?? []) found.add(next); // a set is read to its end as it grows
  return found;
}

/** A node that is over stays so, and whoever reads this run sees what it came to. */
function reused({ nodes }: WorkflowDefinition, id: string, over: Flow["nodes"][string]): Note[] {
  const kind = nodes[id]?.kind;
  if (kind === undefined) return [];
  const { state, port, message_id } = over;
  return [
    {
      type: "node",
      node: id,
      kind,
      state,
      reused: true,
      ...(port === undefined ? {} : { port }),
      ...(message_id === undefined ? {} : { message_id }),
    },
  ];
}
