import { type NodeInput, type NodeOut, runTurn, type TurnState } from "trackside/loop";
import { type Answers, type FakeWorld, fakeWorld } from "trackside/testing";
import type { PinnedGraph, PinnedNode } from "../../src/schema/agent.ts";
import { agentDefinition } from "../../src/schema/index.ts";

const definition = agentDefinition.parse({ name: "w", model: "openai:none" });
const turn = { run_id: "r", turn_ref: "t", log: 0, message_id: "r.user" };
const nobody = { points: [], pre_hooks: false, post_hooks: false, held_by: [], servers: false, team: {} };

type Edge = `${string}>${string}` | `${string}>${string}:${"true" | "false" | "rejected" | "failed"}`;

/** A graph of tools, where nothing else is said: `graph({ a: {}, b: {} }, "a>b", "a>c:failed")`. */
export function graph(nodes: Readonly<Record<string, Partial<PinnedNode>>>, ...edges: Edge[]): PinnedGraph {
  const pinned = Object.entries(nodes).map(([id, node]) => [id, { kind: "tool", ...node }] as const);
  return {
    nodes: Object.fromEntries(pinned),
    edges: edges.map((edge) => {
      const [from = "", to = "", when] = edge.split(/[>:]/);
      return { from, to, ...(when === undefined ? {} : { when: when as "true" }) }; // as the type of an edge says
    }),
    reads: [],
  };
}

/** Nodes one after the other. */
export function chain(length: number): PinnedGraph {
  const ids = Array.from({ length }, (_, i) => `n${i}`);
  return graph(
    Object.fromEntries(ids.map((id) => [id, {}])),
    ...ids.slice(1).map((to, i): Edge => `n${i}>${to}`),
  );
}

export type NodeAnswers = Partial<Answers> & {
  /** What a node is to do, where that is not one call. */
  readonly enter?: (node: string, input: NodeInput) => NodeOut | undefined;
};

/** A world in which every node makes one call, unless it is said otherwise; what is cancelled answers so. */
export function worldOf({ enter, ...answers }: NodeAnswers = {}): FakeWorld {
  const node = (input: NodeInput): NodeOut => {
    if (input.node === null) return { message_id: "r.output" };
    if (input.doing === "settle") return { message_id: `${input.node}.out` };
    return enter?.(input.node, input) ?? calling(input.node);
  };
  return heeding(fakeWorld({ model: () => ({}), node, ...answers }));
}

export function calling(node: string, exclusive: readonly boolean[] = [false]): NodeOut {
  const calls = exclusive.map((alone, index) => ({
    id: `${node}.c${index}`,
    index,
    tool: "t",
    ...(alone ? { exclusive: true as const } : {}),
  }));
  return { message_id: `${node}.call`, calls };
}

/** A fake world only notes what is cancelled; in this one it answers, begun or yet to begin, as in a real one. */
function heeding(world: FakeWorld): FakeWorld {
  const stopped = new Map<string, string>();
  const waiting = new Set<{ key: string; stop: (reason: string) => void }>();
  const heed = <T extends object>(key: string, answer: Promise<T>, also: object): Promise<T> => {
    const one = Promise.withResolvers<T>();
    const entry = { key, stop: (cancelled: string) => one.resolve({ ...also, cancelled } as unknown as T) }; // every answer may be that
    for (const [prefix, reason] of stopped) if (key.startsWith(prefix)) entry.stop(reason);
    waiting.add(entry);
    void answer.then((out) => one.resolve(out));
    return one.promise;
  };
  return {
    ...world,
    tool: (key, input) => heed(key, world.tool(key, input), { message_id: `${input.call.id}.result` }),
    ask: (key, input) => heed(key, world.ask(key, input), { status: "rejected" }),
    sleep: (key, ms) => heed(key, world.sleep(key, ms), {}),
    cancel: (prefix, reason) => {
      world.cancel(prefix, reason);
      stopped.set(prefix, reason);
      for (const { key, stop } of waiting) if (key.startsWith(prefix)) stop(reason);
    },
  };
}

/** Runs a graph to its end. */
export function run(of: PinnedGraph, world: FakeWorld, state?: TurnState): Promise<TurnState> {
  return runTurn({ definition, ...nobody, graph: of }, turn, world, state);
}

/** What became of nodes, in order: `a:completed`. */
export function told({ notes }: FakeWorld): string[] {
  return notes.flatMap((note) =>
    note.type === "node" && note.state !== "started" ? `${note.node}:${note.port ?? note.state}` : [],
  );
}

/** Lets everything happen that needs no time. */
export async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
