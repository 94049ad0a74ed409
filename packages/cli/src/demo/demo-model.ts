import { setTimeout as sleep } from "node:timers/promises";
import { type ModelPrompt, type ModelV4, readPrompt } from "./read-prompt.ts";
import { releaseReply } from "./release.ts";
import { type Reply, reply } from "./rules.ts";

type Streamed = Awaited<ReturnType<ModelV4["doStream"]>>;
type Part = Streamed["stream"] extends ReadableStream<infer P> ? P : never;

/** How it takes its time: before it starts to answer, and between two words. Milliseconds. */
export interface Pace {
  readonly thinking: number;
  readonly word: number;
}

export const READING_PACE: Pace = { thinking: 350, word: 22 };
export const NO_PACE: Pace = { thinking: 0, word: 0 };

/** A model with no intelligence and no network: fixed rules, streamed as a real one would. */
export function demoModel(pace: Pace): ModelV4 {
  let asked = 0;
  return {
    specificationVersion: "v4",
    provider: "demo",
    modelId: "scripted",
    supportedUrls: {},
    async doStream({ prompt, abortSignal }) {
      asked += 1;
      const parts = partsOf(releaseReply(prompt) ?? reply(readPrompt(prompt)), prompt, asked);
      return { stream: ReadableStream.from(paced(parts, pace, abortSignal)) };
    },
    async doGenerate() {
      throw new Error("the demo model only streams");
    },
  };
}

async function* paced(parts: readonly Part[], pace: Pace, signal: AbortSignal | undefined) {
  const options = signal ? { signal } : {};
  if (pace.thinking > 0) await sleep(pace.thinking, undefined, options);
  for (const part of parts) {
    if (pace.word > 0 && part.type.endsWith("delta")) await sleep(pace.word, undefined, options);
    yield part;
  }
}

function partsOf({ text, calls = [] }: Reply, prompt: ModelPrompt, asked: number): Part[] {
  const parts: Part[] = [
    { type: "stream-start", warnings: [] },
    { type: "text-start", id: "text" },
    ...words(text).map((delta): Part => ({ type: "text-delta", id: "text", delta })),
    { type: "text-end", id: "text" },
  ];
  for (const [i, { tool, args }] of calls.entries()) {
    const id = `demo-${asked}-${i + 1}`;
    const input = JSON.stringify(args);
    parts.push(
      { type: "tool-input-start", id, toolName: tool },
      ...words(input).map((delta): Part => ({ type: "tool-input-delta", id, delta })),
      { type: "tool-input-end", id },
      { type: "tool-call", toolCallId: id, toolName: tool, input },
    );
  }
  const unified = calls.length > 0 ? "tool-calls" : "stop";
  const output = tokens(text) + tokens(JSON.stringify(calls));
  const input = tokens(JSON.stringify(prompt));
  parts.push({
    type: "finish",
    finishReason: { unified, raw: unified },
    usage: {
      inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: output, text: output, reasoning: 0 },
    },
  });
  return parts;
}

function words(text: string): string[] {
  return text.match(/\s*\S+/g) ?? [];
}

/** Four characters to a token, about as real ones count. */
function tokens(text: string): number {
  return Math.ceil(text.length / 4);
}
