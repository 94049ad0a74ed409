import type { PinnedAgent, PinnedGraph } from "../schema/agent.ts";
import type { Failure } from "../schema/failure.ts";
import type { TurnStart, TurnState } from "../schema/turn-state.ts";
import type { WorkflowEdge } from "../schema/workflow.ts";
import { log } from "../turn/open.ts";
import { cancel, fail } from "../turn/state.ts";
import type { World } from "../turn/world.ts";
import { type NodeEnd, NodeRun } from "./node-run.ts";
import { Turnstile } from "./turnstile.ts";

type Flow = NonNullable<TurnState["flow"]>;

/**
 * The nodes of a workflow, in place of an agent's steps: each as soon as everything that leads to it is over, those that do
 * not depend on each other beside each other. It has the loop's own discipline: effects under structural keys, a small
 * state, and a checkpoint wherever nothing is open (W4).
 */
export async function runNodes(
  agent: PinnedAgent,
  graph: PinnedGraph,
  turn: TurnStart,
  world: World,
  state: TurnState,
): Promise<void> {
  const flow: Flow = state.flow ?? { settled: 0, nodes: {} };
  state.flow = flow;
  const nodes = new Nodes(agent, graph, turn, world, state, flow);
  await nodes.run();
  if (state.outcome === null) await finish(graph, world, state, flow);
}

/** More nodes than this, and not every one of them is a checkpoint: a state is as large as its workflow. */
const CHECKPOINTS = 50;

class Nodes {
  readonly #graph: PinnedGraph;
  readonly #world: World;
  readonly #state: TurnState;
  readonly #flow: Flow;
  readonly #agent: PinnedAgent;
  readonly #turn: TurnStart;
  readonly #calls = new Turnstile();
  readonly #place: ReadonlyMap<string, number>;
  readonly #into = new Map<string, WorkflowEdge[]>();
  readonly #outOf = new Map<string, WorkflowEdge[]>();
  readonly #stride: number;
  /** Begun and not over. */
  #open = 0;
  #checkpoint = 0;

  constructor(
    agent: PinnedAgent,
    graph: PinnedGraph,
    turn: TurnStart,
    world: World,
    state: TurnState,
    flow: Flow,
  ) {
    this.#agent = agent;
    this.#graph = graph;
    this.#turn = turn;
    this.#world = world;
    this.#state = state;
    this.#flow = flow;
    const ids = Object.keys(graph.nodes);
    this.#place = new Map(ids.map((id, i) => [id, i]));
    for (const id of ids) {
      this.#into.set(id, []);
      this.#outOf.set(id, []);
    }
    for (const edge of graph.edges) {
      this.#into.get(edge.to)?.push(edge);
      this.#outOf.get(edge.from)?.push(edge);
    }
    this.#stride = Math.ceil(ids.length / CHECKPOINTS);
  }

  async run(): Promise<void> {
    await this.#rest(); // it may be started again from here
    if (this.#state.outcome !== null) return;
    const ready = Object.keys(this.#graph.nodes).filter(
      (id) => this.#flow.nodes[id] === undefined && this.#isReached(id),
    );
    await this.#begin(this.#skipping(ready));
  }

  async #begin(ids: readonly string[]): Promise<void> {
    await Promise.all(ids.map((id) => this.#one(id)));
  }

  async #one(id: string): Promise<void> {
    const node = this.#graph.nodes[id];
    if (node === undefined) throw new Error(`there is no node "${id}"`);
    this.#open += 1;
    const run = new NodeRun(this.#agent, this.#turn, this.#world, this.#state, this.#calls, { id, node });
    const end = await run.live(this.#outputs(node.reads ?? []));
    this.#open -= 1;
    this.#stopWith(end);
    const next = this.#settle(id, end);
    if (this.#state.outcome !== null || next.length === 0) return;
    if (this.#open === 0 && this.#flow.settled - this.#checkpoint >= this.#stride) await this.#rest();
    if (this.#state.outcome === null) await this.#begin(next);
  }

  /** Where its inputs are. What was skipped has none. */
  #outputs(ids: readonly string[]): Record<string, string> {
    const from: Record<string, string> = {};
    for (const id of ids) {
      const { state, message_id } = this.#flow.nodes[id] ?? {};
      if (state === "completed" && message_id !== undefined) from[id] = message_id;
    }
    return from;
  }

  /** A cancel or a rail's abort ends the run: whatever else is under way is stopped, and still answers (R9, X5). */
  #stopWith({ fatal, cancelled }: NodeEnd): void {
    const state = this.#state;
    if (state.outcome !== null) return;
    if (fatal) {
      fail(state, fatal);
      this.#world.cancel("n/", fatal.message);
    } else if (cancelled !== undefined) cancel(state, cancelled);
  }

  /** A node is over. Answers those that can begin now. */
  #settle(id: string, end: NodeEnd): readonly string[] {
    const hasEdge = (when: string) => this.#outOf.get(id)?.some((edge) => edge.when === when) === true;
    let port: Flow["nodes"][string]["port"] = end.port;
    if (end.failure) port = end.isRejected && hasEdge("rejected") ? "rejected" : "failed";
    const { message_id, failure } = end;
    this.#keep(id, {
      state: failure ? "failed" : "completed",
      ...(port === undefined ? {} : { port }),
      ...(message_id === undefined ? {} : { message_id }),
      ...(failure === undefined ? {} : { failure }),
    });
    const { fatal: _, cancelled: __, isRejected: ___, isFinal: ____, ...said } = end;
    const kind = this.#kind(id);
    this.#world.note({
      type: "node",
      node: id,
      kind,
      state: failure ? "failed" : "completed",
      ...said,
      ...(port === undefined ? {} : { port }),
    });
    if (this.#state.outcome !== null) return [];
    const after = (this.#outOf.get(id) ?? []).map(({ to }) => to);
    return this.#skipping([...new Set(after)].filter((to) => this.#isReached(to)));
  }

  /** Of nodes that everything before is over of: those that are led to. The others are skipped, and so on. */
  #skipping(reached: readonly string[]): readonly string[] {
    const ready: string[] = [];
    const open = [...reached];
    for (let id = open.shift(); id !== undefined; id = open.shift()) {
      const reason = this.#unreached(id);
      if (reason === undefined) {
        ready.push(id);
        continue;
      }
      this.#keep(id, { state: "skipped" });
      this.#world.note({ type: "node", node: id, kind: this.#kind(id), state: "skipped", reason });
      const after = (this.#outOf.get(id) ?? []).map(({ to }) => to);
      open.push(...[...new Set(after)].filter((to) => this.#isReached(to)));
    }
    return ready.sort((a, b) => (this.#place.get(a) ?? 0) - (this.#place.get(b) ?? 0));
  }

  #isReached(id: string): boolean {
    return (this.#into.get(id) ?? []).every(({ from }) => this.#flow.nodes[from] !== undefined);
  }

  /** Why no edge leads to it; undefined when one does, or none has to. */
  #unreached(id: string): string | undefined {
    const into = this.#into.get(id) ?? [];
    if (into.length === 0 || into.some((edge) => this.#isTaken(edge))) return undefined;
    const why = into.map(({ from }) => {
      const { state, port } = this.#flow.nodes[from] ?? {};
      return `"${from}" ${port === "true" || port === "false" ? `went ${port}` : (port ?? state)}`;
    });
    return [...new Set(why)].join(", ");
  }

  #isTaken({ from, when }: WorkflowEdge): boolean {
    const over = this.#flow.nodes[from];
    return over !== undefined && over.state !== "skipped" && over.port === when;
  }

  #keep(id: string, over: Flow["nodes"][string]): void {
    this.#flow.nodes[id] = over;
    this.#flow.settled += 1;
  }

  #kind(id: string) {
    return this.#graph.nodes[id]?.kind ?? "tool";
  }

  /** With nothing open, a run can be started again from here; what came in meanwhile is heard. */
  async #rest(): Promise<void> {
    this.#checkpoint = this.#flow.settled;
    const boundary = this.#world.boundary(this.#state);
    if (!boundary) return;
    const { inbox, cancelled } = await boundary;
    // A workflow has nobody to talk to.
    for (const { message_id, receipt } of inbox) this.#world.note({ type: "dropped", message_id, receipt });
    if (cancelled !== undefined) cancel(this.#state, cancelled);
  }
}

/** Every node is over: the workflow's own output, or which of them failed with nothing to go on by. */
async function finish(graph: PinnedGraph, world: World, state: TurnState, flow: Flow): Promise<void> {
  const failed = Object.keys(graph.nodes).filter((id) => isFailure(graph, flow, id));
  const [first] = failed;
  if (first !== undefined) return fail(state, failureOf(first, failed, flow.nodes[first]?.failure));
  const from: Record<string, string> = {};
  for (const id of graph.reads) {
    const { state: ended, message_id } = flow.nodes[id] ?? {};
    if (ended === "completed" && message_id !== undefined) from[id] = message_id;
  }
  const out = await world.node("finish", { node: null, doing: "settle", attempt: 1, from });
  if (out.cancelled !== undefined) return cancel(state, out.cancelled);
  if (out.failure || out.message_id === undefined)
    return fail(state, out.failure ?? { code: "internal", message: "the workflow left no output" });
  log(world, state, [out.message_id]);
  world.note({ type: "text", message_id: out.message_id });
  state.outcome = { status: "completed", stop_reason: "answered", message_id: out.message_id };
}

/** It failed, and no edge says what to do about it. */
function isFailure({ edges }: PinnedGraph, flow: Flow, id: string): boolean {
  const over = flow.nodes[id];
  return over?.state === "failed" && !edges.some(({ from, when }) => from === id && when === over.port);
}

function failureOf(first: string, failed: readonly string[], why: Failure | undefined): Failure {
  const others = failed.length > 1 ? ` (and so did ${failed.slice(1).map(quoted).join(", ")})` : "";
  return {
    code: "node_failed",
    message: `The node ${quoted(first)} failed: ${why?.message ?? "nobody knows why"}${others}`,
    details: {
      nodes: failed,
      ...(why?.details?.["item"] === undefined ? {} : { item: why.details["item"] }),
    },
    ...(why ? { cause: { code: why.code, message: why.message } } : {}),
  };
}

function quoted(id: string): string {
  return `"${id}"`;
}
