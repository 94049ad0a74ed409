import {
  generateText,
  isStepCount,
  experimental_streamTextLowMemory as streamLowMemory,
  streamText,
  tool,
} from "ai";
import { z } from "zod";
import {
  add,
  type Contestant,
  MAX_STEPS,
  PARENT_PROMPT,
  PROMPT,
  perScript,
  type Script,
  TOOL,
} from "../workload.ts";
import { v4Model, v4TreeModel } from "./v4-model.ts";

const tools = {
  [TOOL.name]: tool({
    description: TOOL.description,
    inputSchema: z.object({ n: z.number() }),
    execute: ({ n }) => add(n),
  }),
};
const stopWhen = isStepCount(MAX_STEPS);
const settings = perScript((script: Script) => ({
  model: v4Model(script),
  tools,
  stopWhen,
  prompt: PROMPT,
  telemetry: { isEnabled: false },
}));

/** The documented way: a tool that runs an agent, here as many at once as there are jobs. */
const spawning = perScript((script: Script) => ({
  ...settings(script),
  model: v4TreeModel("spawn", script),
  prompt: PARENT_PROMPT,
  tools: {
    ...tools,
    spawn: tool({
      description: "Gives jobs to sub-agents.",
      inputSchema: z.object({ jobs: z.array(z.object({ task: z.string() })) }),
      execute: ({ jobs }) =>
        Promise.all(
          jobs.map(async ({ task }) => (await generateText({ ...settings(script), prompt: task })).text),
        ),
    }),
  },
}));

const contestant: Contestant = {
  run: {
    async generateText(script) {
      const result = await generateText(settings(script));
      return { text: result.text, kept: result };
    },
    async streamText(script) {
      const result = streamText(settings(script));
      await result.consumeStream();
      return { text: await result.text, kept: result };
    },
  },
  stream: {
    async streamText(script, onDelta) {
      for await (const delta of streamText(settings(script)).textStream) onDelta(delta);
    },
    async streamTextLowMemory(script, onDelta) {
      for await (const delta of streamLowMemory(settings(script)).textStream) onDelta(delta);
    },
  },
  async tree(script) {
    const result = await generateText(spawning(script));
    return { text: result.text, kept: result };
  },
  hooked(count, hook) {
    const integration = {
      onStart: hook,
      onStepStart: hook,
      onLanguageModelCallStart: hook,
      onLanguageModelCallEnd: hook,
      onToolExecutionStart: hook,
      onToolExecutionEnd: hook,
      onStepEnd: hook,
      onEnd: hook,
    };
    const telemetry = { integrations: Array.from({ length: count }, () => ({ ...integration })) };
    return (script) => generateText({ ...settings(script), telemetry });
  },
};
export default contestant;
