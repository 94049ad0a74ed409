import { DurableEngine, sqlite } from "@trackside/host";
import { Agent, defineRail, defineTool, type Rail } from "trackside";
import { z } from "zod";
import {
  add,
  type Contestant,
  type Disk,
  type Durable,
  JOBS,
  MAX_STEPS,
  PARENT_PROMPT,
  PROMPT,
  perScript,
  type Script,
  TOOL,
} from "../workload.ts";
import { v4Model, v4TreeModel } from "./v4-model.ts";

const addTool = defineTool({ ...TOOL, input: z.object({ n: z.number() }), execute: ({ n }) => add(n) });
const newAgent = (script: Script, rails: readonly Rail[] = []) =>
  new Agent({ name: "bench", model: v4Model(script), tools: [addTool], maxSteps: MAX_STEPS, rails });
const agent = perScript((script) => newAgent(script));
const parent = perScript(
  (script) =>
    new Agent({
      name: "parent",
      model: v4TreeModel("spawn_parallel", script),
      tools: [addTool],
      maxSteps: MAX_STEPS,
      allowParallelSubagents: true,
      maxParallelSubagents: JOBS.length,
    }),
);

const points = [
  "START",
  "FINISHED",
  "ERROR",
  "PRE_LLM_CALL",
  "POST_LLM_CALL",
  "PRE_TOOL_CALL",
  "POST_TOOL_CALL",
  "MODEL_ERROR",
  "TOOL_ERROR",
  "HANDOFF",
  "CONTEXT_WINDOW",
] as const;

/** The agent as `Trackside` hosts it. `effect` says what a second run of the tool would do. */
const hosted = (effect: "none" | "once") => {
  const tool = defineTool({
    ...TOOL,
    input: z.object({ n: z.number() }),
    effect,
    execute: ({ n }) => add(n),
  });
  return async ({ path, sync }: Disk): Promise<Durable> => {
    // One agent for each script: an agent is known by its name.
    const engine = new DurableEngine({ store: sqlite(path, { sync }) });
    await engine.open();
    const agent = perScript(
      (script) =>
        new Agent({
          name: `bench ${script.steps}`,
          model: v4Model(script),
          tools: [tool],
          maxSteps: MAX_STEPS,
        }),
    );
    return {
      run: async (script) => (await agent(script).run(PROMPT, { engine })).output,
      close: () => engine.close(),
    };
  };
};

const contestant: Contestant = {
  run: {
    async run(script) {
      const result = await agent(script).run(PROMPT);
      return { text: result.output, kept: result };
    },
  },
  stream: {
    async stream(script, onDelta) {
      for await (const event of agent(script).stream(PROMPT))
        if (event.type === "text_delta") onDelta(event.text);
    },
  },
  durable: { run: hosted("none") },
  once: hosted("once"),
  async tree(script) {
    const result = await parent(script).run(PARENT_PROMPT);
    return { text: result.output, kept: result };
  },
  hooked(count, hook) {
    const hooked = perScript((script) => {
      const made = newAgent(script);
      for (const point of points) for (let i = 0; i < count; i++) made.hookManager.add(point, hook);
      return made;
    });
    return (script) => hooked(script).run(PROMPT);
  },
  railed(count, handle) {
    const rails = Array.from({ length: count }, (_, i) => defineRail({ name: `rail ${i}` }, handle));
    const railed = perScript((script) => newAgent(script, rails));
    return (script) => railed(script).run(PROMPT);
  },
};
export default contestant;
