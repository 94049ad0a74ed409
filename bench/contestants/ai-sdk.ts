import {
  generateText,
  isStepCount,
  experimental_streamTextLowMemory as streamLowMemory,
  streamText,
  tool,
} from "ai";
import { z } from "zod";
import { add, type Contestant, MAX_STEPS, PROMPT, perScript, type Script, TOOL } from "../workload.ts";
import { v4Model } from "./v4-model.ts";

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
