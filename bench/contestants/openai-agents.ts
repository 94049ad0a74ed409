import {
  Agent,
  type Model,
  type ModelRequest,
  type ModelResponse,
  type protocol,
  Runner,
  tool,
  Usage,
} from "@openai/agents";
import { z } from "zod";
import {
  add,
  type Contestant,
  DELTA,
  DONE,
  PROMPT,
  perScript,
  type Script,
  stepOf,
  TOOL,
} from "../workload.ts";

const addTool = tool({ ...TOOL, parameters: z.object({ n: z.number() }), execute: ({ n }) => add(n) });
const tokens = { requests: 1, inputTokens: 10, outputTokens: 5, totalTokens: 15 };

function toolCall(step: number): protocol.FunctionCallItem[] {
  return [
    {
      type: "function_call",
      callId: `call-${step}`,
      name: TOOL.name,
      status: "completed",
      arguments: `{"n":${step}}`,
    },
  ];
}

function message(text: string): protocol.AssistantMessageItem[] {
  return [
    { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text }] },
  ];
}

class FakeModel implements Model {
  constructor(script: Script) {
    this.script = script;
  }
  readonly script: Script;

  async getResponse({ input }: ModelRequest): Promise<ModelResponse> {
    const step = stepOf(input.length);
    return { usage: new Usage(tokens), output: step < this.script.steps ? toolCall(step) : message(DONE) };
  }

  async *getStreamedResponse({ input }: ModelRequest): AsyncGenerator<protocol.StreamEvent> {
    const { steps, deltas } = this.script;
    const step = stepOf(input.length);
    yield { type: "response_started" };
    if (step < steps) {
      yield { type: "response_done", response: { id: "0", usage: tokens, output: toolCall(step) } };
      return;
    }
    if (deltas === 0) yield { type: "output_text_delta", delta: DONE };
    for (let i = 0; i < deltas; i++) yield { type: "output_text_delta", delta: DELTA };
    const output = message(deltas === 0 ? DONE : DELTA.repeat(deltas));
    yield { type: "response_done", response: { id: "0", usage: tokens, output } };
  }
}

const newAgent = (script: Script) =>
  new Agent({ name: "bench", model: new FakeModel(script), tools: [addTool] });
const agent = perScript(newAgent);
const runner = new Runner({ tracingDisabled: true });
const unlimited = { maxTurns: null };

const contestant: Contestant = {
  run: {
    async run(script) {
      const result = await runner.run(agent(script), PROMPT, unlimited);
      return { text: result.finalOutput ?? "", kept: result };
    },
    async "run, stream: true"(script) {
      const result = await runner.run(agent(script), PROMPT, { ...unlimited, stream: true });
      await result.completed;
      return { text: result.finalOutput ?? "", kept: result };
    },
  },
  stream: {
    async events(script, onDelta) {
      for await (const event of await runner.run(agent(script), PROMPT, { ...unlimited, stream: true }))
        if (event.type === "raw_model_stream_event" && event.data.type === "output_text_delta")
          onDelta(event.data.delta);
    },
    async toTextStream(script, onDelta) {
      const result = await runner.run(agent(script), PROMPT, { ...unlimited, stream: true });
      for await (const delta of result.toTextStream()) onDelta(delta);
    },
  },
  hooked(count, hook) {
    const hooked = perScript((script) => {
      const made = newAgent(script);
      for (let i = 0; i < count; i++)
        for (const point of ["agent_start", "agent_end", "agent_tool_start", "agent_tool_end"] as const)
          made.on(point, hook);
      return made;
    });
    return (script) => runner.run(hooked(script), PROMPT, unlimited);
  },
};
export default contestant;
