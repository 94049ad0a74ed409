import type {
  LanguageModelV4,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
} from "@ai-sdk/provider";
import { DELTA, DONE, type Script, stepOf, TOOL } from "../workload.ts";

/** The one model that the bare loop, the AI SDK and Trackside are given. */
export function v4Model({ steps, deltas }: Script): LanguageModelV4 {
  return {
    specificationVersion: "v4",
    provider: "bench",
    modelId: "bench",
    supportedUrls: {},
    doStream: async ({ prompt }) => {
      const step = stepOf(prompt.length);
      return { stream: streamOf(step < steps ? toolParts(step) : textParts(deltas)) };
    },
    doGenerate: async ({ prompt }) => {
      const step = stepOf(prompt.length);
      return step < steps
        ? { content: [toolCall(step)], finishReason: CALLS, usage: USAGE, warnings: [] }
        : { content: [{ type: "text", text: DONE }], finishReason: STOP, usage: USAGE, warnings: [] };
    },
  };
}

const CALLS: LanguageModelV4FinishReason = { unified: "tool-calls", raw: "tool_calls" };
const STOP: LanguageModelV4FinishReason = { unified: "stop", raw: "stop" };
const USAGE = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 },
};

function toolCall(step: number): LanguageModelV4ToolCall {
  return { type: "tool-call", toolCallId: `call-${step}`, toolName: TOOL.name, input: `{"n":${step}}` };
}

function* toolParts(step: number): Generator<LanguageModelV4StreamPart> {
  yield { type: "stream-start", warnings: [] };
  yield toolCall(step);
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
