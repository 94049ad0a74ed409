import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { Agent, type AgentEvent, defineTool, type Engine, localEngine } from "trackside";
import { bounded, HURRIED, type Played } from "./stage.ts";

/** What a hostile model answers a request with: anything at all. */
export type Answer = (options: LanguageModelV4CallOptions, number: number) => unknown;

/** A model by its looks only: whatever `answer` returns or throws is what `doStream` returns or throws. */
export function hostileModel(
  answer: Answer,
): LanguageModelV4 & { readonly requests: LanguageModelV4CallOptions[] } {
  const requests: LanguageModelV4CallOptions[] = [];
  return {
    specificationVersion: "v4",
    provider: "hostile",
    modelId: "model",
    supportedUrls: {},
    requests,
    doGenerate: () => Promise.reject(new Error("not used")),
    // The point of these models is to return what they must not.
    doStream: (options) => answer(options, requests.push(options) - 1) as never,
  };
}

/** A stream of these parts, whatever they are. */
export function streamOf(...parts: unknown[]): { stream: ReadableStream } {
  return { stream: ReadableStream.from(parts) };
}

export const text = (delta: unknown, id = "1") => ({ type: "text-delta", id, delta });
export const call = (fields: object = {}) => ({
  type: "tool-call",
  toolCallId: "c1",
  toolName: "book",
  input: '{"city":"Oslo"}',
  ...fields,
});
export const finish = (unified = "stop", fields: object = {}) => ({
  type: "finish",
  finishReason: { unified, raw: unified },
  usage: { inputTokens: { total: 10 }, outputTokens: { total: 5 } },
  ...fields,
});

/** One turn with a hostile model. Requests after those it was given answers for are answered with "done". */
export async function face(...answers: (Answer | unknown[])[]): Promise<Faced> {
  return faceOn(localEngine({ retry: HURRIED }), ...answers);
}

export async function faceOn(engine: Engine, ...answers: (Answer | unknown[])[]): Promise<Faced> {
  const model = hostileModel((options, number) => {
    const answer = answers[number] ?? [text("done"), finish()];
    return typeof answer === "function" ? answer(options, number) : streamOf(...answer);
  });
  const executed: unknown[] = [];
  const book = defineTool({
    name: "book",
    input: { type: "object" },
    execute: (args) => executed.push(args),
  });
  const stream = new Agent({ name: "brave", model, tools: [book] }).stream("go", { engine });
  const events: AgentEvent[] = [];
  const reading = (async () => {
    for await (const event of stream) events.push(event);
  })();
  await bounded(reading, "the stream");
  const faced = { events, executed, requests: model.requests };
  return stream.result.then(
    (result) => ({ ...faced, result }),
    (error) => ({ ...faced, error }),
  );
}

export type Faced = Pick<Played, "events" | "result" | "error" | "executed"> & {
  requests: LanguageModelV4CallOptions[];
};
