import type {
  LanguageModelV4,
  LanguageModelV4FinishReason,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
} from "@ai-sdk/provider";
import { DELTA, DONE, JOBS, PARENT_PROMPT, type Script, stepOf, TOOL } from "../workload.ts";

/** The one model that the bare loop, the AI SDK and Trackside are given. */
export function v4Model({ steps, deltas }: Script): LanguageModelV4 {
  return saying((prompt) => {
    const step = stepOf(prompt.length);
    return step < steps ? addCall(step) : deltas;
  });
}

/**
 * The model of a parent that gives its jobs to sub-agents by calling `spawn`, and of those, who follow the script: with
 * `add`, or with the tool that is named.
 */
export function v4TreeModel(
  spawn: string,
  { steps, deltas }: Script,
  instead?: Pick<LanguageModelV4ToolCall, "toolName" | "input">,
): LanguageModelV4 {
  return saying((prompt) => {
    const [first] = prompt;
    const isParent =
      first?.role === "user" && first.content[0]?.type === "text" && first.content[0].text === PARENT_PROMPT;
    const step = stepOf(prompt.length);
    if (isParent) return step === 0 ? spawnCall(spawn) : 0;
    return step < steps ? { ...addCall(step), ...instead } : deltas;
  });
}

/** What a model says to a prompt: a call, or a text in so many pieces. */
type Saying = (prompt: LanguageModelV4Prompt) => LanguageModelV4ToolCall | number;

function saying(next: Saying): LanguageModelV4 {
  return {
    specificationVersion: "v4",
    provider: "bench",
    modelId: "bench",
    supportedUrls: {},
    doStream: async ({ prompt }) => {
      const said = next(prompt);
      return { stream: streamOf(typeof said === "number" ? textParts(said) : callParts(said)) };
    },
    doGenerate: async ({ prompt }) => {
      const said = next(prompt);
      return typeof said === "number"
        ? { content: [{ type: "text", text: DONE }], finishReason: STOP, usage: USAGE, warnings: [] }
        : { content: [said], finishReason: CALLS, usage: USAGE, warnings: [] };
    },
  };
}

const CALLS: LanguageModelV4FinishReason = { unified: "tool-calls", raw: "tool_calls" };
const STOP: LanguageModelV4FinishReason = { unified: "stop", raw: "stop" };
const USAGE = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 },
};

function addCall(step: number): LanguageModelV4ToolCall {
  return { type: "tool-call", toolCallId: `call-${step}`, toolName: TOOL.name, input: `{"n":${step}}` };
}

function spawnCall(toolName: string): LanguageModelV4ToolCall {
  return { type: "tool-call", toolCallId: "spawn", toolName, input: JSON.stringify({ jobs: JOBS }) };
}

function* callParts(call: LanguageModelV4ToolCall): Generator<LanguageModelV4StreamPart> {
  yield { type: "stream-start", warnings: [] };
  yield call;
  yield { type: "finish", finishReason: CALLS, usage: USAGE };
}

function* textParts(deltas: number): Generator<LanguageModelV4StreamPart> {
  yield { type: "stream-start", warnings: [] };
  yield { type: "text-start", id: "0" };
  if (deltas === 0) yield { type: "text-delta", id: "0", delta: DONE };
  for (let i = 0; i < deltas; i++) yield { type: "text-delta", id: "0", delta: DELTA };
  yield { type: "text-end", id: "0" };
  yield { type: "finish", finishReason: STOP, usage: USAGE };
}

/** Hands over one part each time it is asked for one, as a provider reading a socket does. */
function streamOf(parts: Iterator<LanguageModelV4StreamPart>): ReadableStream<LanguageModelV4StreamPart> {
  return new ReadableStream({
    pull(controller) {
      const next = parts.next();
      if (next.done) controller.close();
      else controller.enqueue(next.value);
    },
  });
}
