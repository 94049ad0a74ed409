import type { AgentEvent } from "trackside";
import type { ShownCall } from "./approval-view.ts";

/**
 * The calls of a run by number: the step, then the place in it. Those of sub-agents and the planner come after whose they
 * are: `1.1[0]/2.1` is the first call in the second step of the first sub-agent that the call 1.1 started.
 */
export class Calls {
  readonly #calls = new Map<string, ShownCall>();
  readonly #lanes = new Map<string, { step: number; count: number }>();

  note(event: AgentEvent): void {
    if (event.type === "step" && event.state === "started")
      this.#lanes.set(event.path.join("/"), { step: event.step, count: 0 });
    if (event.type !== "tool_call" || this.#calls.has(event.call_id)) return;
    const lane = this.#lanes.get(event.path.join("/"));
    if (lane !== undefined) lane.count += 1;
    const place = lane === undefined ? nodeOf(event) : `${lane.step}.${lane.count}`;
    const label = [...event.path, place].join("/");
    this.#calls.set(event.call_id, { label, written: event.arguments });
  }

  /** The last step of the run itself, or of a sub-agent. */
  step(path: readonly string[] = []): number {
    return this.#lanes.get(path.join("/"))?.step ?? 0;
  }

  of(callId: string | null): ShownCall | undefined {
    return callId === null ? undefined : this.#calls.get(callId);
  }
}

/** The node of a workflow that makes a call, and which of its items: `<run>.<node>.<try>.c<item>`. */
function nodeOf({ call_id, run_id }: { call_id: string; run_id: string }): string {
  const rest = call_id.startsWith(`${run_id}.`) ? call_id.slice(run_id.length + 1) : "";
  const [, node, item] = /^([\w-]+)\.\d+\.c(\d+)$/.exec(rest) ?? [];
  if (node === undefined) return "0.1";
  return item === "0" ? node : `${node}[${item}]`;
}
