import {
  Agent,
  type AgentMessage,
  type AgentTool,
  agentLoop,
  runAgentLoop,
} from "@mariozechner/pi-agent-core";
import {
  type AssistantMessage,
  type AssistantMessageEvent,
  type AssistantMessageEventStream,
  createAssistantMessageEventStream,
  type Model,
  type ToolCall,
  Type,
} from "@mariozechner/pi-ai";
import {
  add,
  type Contestant,
  DELTA,
  DONE,
  JOBS,
  PARENT_PROMPT,
  PROMPT,
  type Script,
  stepOf,
  TOOL,
} from "../workload.ts";

const parameters = Type.Object({ n: Type.Number() });
const addTool: AgentTool<typeof parameters, undefined> = {
  ...TOOL,
  label: TOOL.name,
  parameters,
  execute: async (_id, { n }) => ({ content: [{ type: "text", text: String(add(n)) }], details: undefined }),
};

const model: Model<"bench"> = {
  id: "bench",
  name: "bench",
  api: "bench",
  provider: "bench",
  baseUrl: "",
  reasoning: false,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 1_000_000,
  maxTokens: 1_000_000,
};
const usage: AssistantMessage["usage"] = {
  input: 10,
  output: 5,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 15,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

function assistant(
  stopReason: AssistantMessage["stopReason"],
  content: AssistantMessage["content"],
): AssistantMessage {
  return {
    role: "assistant",
    content,
    api: "bench",
    provider: "bench",
    model: "bench",
    usage,
    stopReason,
    timestamp: 0,
  };
}

const streamFn =
  (script: Script) =>
  (_model: unknown, { messages }: { messages: unknown[] }): AssistantMessageEventStream => {
    const stream = createAssistantMessageEventStream();
    const step = stepOf(messages.length);
    void pump(step < script.steps ? callEvents(addCall(step)) : textEvents(script.deltas), stream);
    return stream;
  };

/** The model of a parent: it gives its jobs away, and then answers. */
const parentStreamFn = (
  _model: unknown,
  { messages }: { messages: unknown[] },
): AssistantMessageEventStream => {
  const stream = createAssistantMessageEventStream();
  void pump(stepOf(messages.length) === 0 ? callEvents(SPAWN_CALL) : textEvents(0), stream);
  return stream;
};

/** As pi's own providers do: reads what the model sends and pushes it into pi's stream. */
async function pump(
  events: AsyncIterable<AssistantMessageEvent>,
  into: AssistantMessageEventStream,
): Promise<void> {
  for await (const event of events) into.push(event);
}

const addCall = (step: number): ToolCall => ({
  type: "toolCall",
  id: `call-${step}`,
  name: TOOL.name,
  arguments: { n: step },
});
const SPAWN_CALL: ToolCall = { type: "toolCall", id: "spawn", name: "spawn", arguments: { jobs: JOBS } };

async function* callEvents(toolCall: ToolCall): AsyncGenerator<AssistantMessageEvent> {
  const message = assistant("toolUse", [toolCall]);
  yield { type: "start", partial: message };
  yield { type: "toolcall_end", contentIndex: 0, toolCall, partial: message };
  yield { type: "done", reason: "toolUse", message };
}

async function* textEvents(deltas: number): AsyncGenerator<AssistantMessageEvent> {
  const block = { type: "text" as const, text: "" };
  const partial = assistant("stop", [block]);
  yield { type: "start", partial };
  yield { type: "text_start", contentIndex: 0, partial };
  for (let i = 0; i < Math.max(1, deltas); i++) {
    const delta = deltas === 0 ? DONE : DELTA;
    block.text += delta;
    yield { type: "text_delta", contentIndex: 0, delta, partial };
  }
  yield { type: "text_end", contentIndex: 0, content: block.text, partial };
  yield { type: "done", reason: "stop", message: partial };
}

function agent(script: Script): Agent {
  return new Agent({ initialState: { model, tools: [addTool] }, streamFn: streamFn(script) });
}

const config = { model, convertToLlm: (messages: AgentMessage[]) => messages };
const context = { systemPrompt: "", messages: [], tools: [addTool] };
const prompt = (content = PROMPT): AgentMessage => ({ role: "user", content, timestamp: 0 });

/** A tool that runs as many loops as it is given jobs. */
const jobs = Type.Object({ jobs: Type.Array(Type.Object({ task: Type.String() })) });
const spawnTool = (script: Script): AgentTool<typeof jobs, undefined> => ({
  name: "spawn",
  label: "spawn",
  description: "Gives jobs to sub-agents.",
  parameters: jobs,
  execute: async (_id, { jobs: given }) => {
    const runs = given.map(({ task }) =>
      runAgentLoop([prompt(task)], context, config, () => {}, undefined, streamFn(script)),
    );
    const texts = (await Promise.all(runs)).map(textOf);
    return { content: [{ type: "text", text: JSON.stringify(texts) }], details: undefined };
  },
});

function textOf(messages: AgentMessage[]): string {
  const last = messages.at(-1);
  const block = last?.role === "assistant" ? last.content[0] : undefined;
  return block?.type === "text" ? block.text : "";
}

const contestant: Contestant = {
  run: {
    async Agent(script) {
      const running = agent(script);
      await running.prompt(PROMPT);
      return { text: textOf(running.state.messages), kept: running };
    },
    async runAgentLoop(script) {
      const messages = await runAgentLoop([prompt()], context, config, () => {}, undefined, streamFn(script));
      return { text: textOf(messages), kept: messages };
    },
  },
  stream: {
    async agentLoop(script, onDelta) {
      for await (const event of agentLoop([prompt()], context, config, undefined, streamFn(script)))
        if (event.type === "message_update" && event.assistantMessageEvent.type === "text_delta")
          onDelta(event.assistantMessageEvent.delta);
    },
  },
  async tree(script) {
    const tools = [addTool, spawnTool(script)];
    const messages = await runAgentLoop(
      [prompt(PARENT_PROMPT)],
      { ...context, tools },
      config,
      () => {},
      undefined,
      parentStreamFn,
    );
    return { text: textOf(messages), kept: messages };
  },
  hooked(count, hook) {
    return async (script) => {
      const running = agent(script);
      for (let i = 0; i < count; i++) running.subscribe(() => hook());
      await running.prompt(PROMPT);
    };
  },
};
export default contestant;
