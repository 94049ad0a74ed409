import { DurableEngine, sqlite } from "@trackside/host";
import { defineTool, defineWorkflow } from "trackside";
import { z } from "zod";
import { add, type Disk, DONE, type Durable, TOOL } from "../workload.ts";

const addTool = defineTool({
  ...TOOL,
  input: z.object({ n: z.number() }),
  output: z.number(),
  effect: "none",
  execute: ({ n }) => add(n),
});

/** So many calls of the tool, each with what came of the one before. */
function made(nodes: number) {
  const ids = Array.from({ length: nodes }, (_, i) => `n${i}`);
  return defineWorkflow({
    name: `chain ${nodes}`,
    nodes: Object.fromEntries(
      ids.map((id, i) => [
        id,
        {
          kind: "tool" as const,
          tool: addTool,
          arguments: { n: i === 0 ? 0 : `{{ nodes.n${i - 1} }}` },
        },
      ]),
    ),
    edges: ids.slice(1).map((to, i) => ({ from: `n${i}`, to })),
  });
}

export function chain(nodes: number): () => Promise<unknown> {
  const workflow = made(nodes);
  return () => workflow.run({});
}

export function durableChain(nodes: number) {
  const workflow = made(nodes);
  return async ({ path, sync }: Disk): Promise<Durable> => {
    const engine = new DurableEngine({ store: sqlite(path, { sync }) });
    await engine.open();
    return {
      run: async () => {
        await workflow.run({}, { engine });
        return DONE;
      },
      close: () => engine.close(),
    };
  };
}
