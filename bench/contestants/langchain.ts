import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";
import { createAgent, createMiddleware, tool } from "langchain";
import { z } from "zod";
import {
  add,
  type Contestant,
  DELTA,
  DONE,
  MAX_STEPS,
  PROMPT,
  perScript,
  type Script,
  stepOf,
  TOOL,
} from "../workload.ts";

export const addTool = tool(({ n }) => String(add(n)), { ...TOOL, schema: z.object({ n: z.number() }) });
const usage = { usage_metadata: { input_tokens: 10, output_tokens: 5, total_tokens: 15 } };

export class FakeModel extends BaseChatModel {
  constructor(script: Script) {
    super({});
    this.script = script;
  }
  readonly script: Script;

  _llmType(): string {
    return "bench";
  }

  /** The tools are known to this model already. */
  override bindTools(): this {
    return this;
  }

  async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const step = stepOf(messages.length);
    if (step >= this.script.steps)
      return { generations: [{ text: DONE, message: new AIMessage({ content: DONE, ...usage }) }] };
    const tool_calls = [
      { type: "tool_call" as const, id: `call-${step}`, name: TOOL.name, args: { n: step } },
    ];
    return { generations: [{ text: "", message: new AIMessage({ content: "", tool_calls, ...usage }) }] };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    _options: unknown,
    callbacks?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const { steps, deltas } = this.script;
    const step = stepOf(messages.length);
    if (step < steps) {
      const call = { type: "tool_call_chunk" as const, index: 0, id: `call-${step}`, name: TOOL.name };
      yield chunk("", { tool_call_chunks: [{ ...call, args: `{"n":${step}}` }], ...usage });
      return;
    }
    if (deltas === 0) yield chunk(DONE, usage);
    for (let i = 0; i < deltas; i++) {
      const next = chunk(DELTA);
      yield next;
      // It is the model that tells the agent's stream of each token.
      await callbacks?.handleLLMNewToken(DELTA, undefined, undefined, undefined, undefined, { chunk: next });
    }
  }
}

function chunk(content: string, more = {}): ChatGenerationChunk {
  return new ChatGenerationChunk({ text: content, message: new AIMessageChunk({ content, ...more }) });
}

const agent = perScript((script) => createAgent({ model: new FakeModel(script), tools: [addTool] }));
export const input = () => ({ messages: [{ role: "user", content: PROMPT }] });
export const limit = { recursionLimit: 50 * MAX_STEPS };

const contestant: Contestant = {
  run: {
    async invoke(script) {
      const state = await agent(script).invoke(input(), limit);
      return { text: String(state.messages.at(-1)?.content), kept: state };
    },
  },
  stream: {
    async 'stream, "messages"'(script, onDelta) {
      for await (const [message] of await agent(script).stream(input(), { ...limit, streamMode: "messages" }))
        if (AIMessageChunk.isInstance(message) && typeof message.content === "string")
          onDelta(message.content);
    },
    async "streamEvents, v3"(script, onDelta) {
      const run = await agent(script).streamEvents(input(), { ...limit, version: "v3" });
      for await (const message of run.messages) for await (const delta of message.text) onDelta(delta);
    },
  },
  hooked(count, hook) {
    const middleware = Array.from({ length: count }, (_, i) =>
      createMiddleware({
        name: `no-op-${i}`,
        beforeAgent: hook,
        beforeModel: hook,
        afterModel: hook,
        afterAgent: hook,
      }),
    );
    const hooked = perScript((script) =>
      createAgent({ model: new FakeModel(script), tools: [addTool], middleware }),
    );
    return (script) => hooked(script).invoke(input(), limit);
  },
};
export default contestant;
