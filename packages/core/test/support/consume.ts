import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { Model } from "../../src/local/providers/adapt.ts";
import { classifyModelError, incompleteFinish, type ModelFailure } from "../../src/local/providers/errors.ts";

export type Consumed = {
  parts: LanguageModelV4StreamPart[];
  text: string;
  /** Every tool call the package emitted, also from a stream that then failed. */
  calls: { name: string; input: string }[];
  finish?: LanguageModelV4FinishReason;
  /** The first failure, wherever it showed: thrown, in an error part, or an end that is not complete. */
  failure?: ModelFailure;
};

const PROMPT = [{ role: "user" as const, content: [{ type: "text" as const, text: "hello" }] }];

/** Calls a model once and reads its stream to the end, as a loop would, keeping every failure as a value. */
export async function consume(
  model: Model,
  options: Partial<Parameters<Model["doStream"]>[0]> = {},
): Promise<Consumed> {
  const consumed: Consumed = { parts: [], text: "", calls: [] };
  const failed = (error: unknown) => {
    consumed.failure ??= classifyModelError(error);
  };
  try {
    const { stream } = await model.doStream({ prompt: PROMPT, ...options });
    for await (const part of stream) {
      consumed.parts.push(part);
      if (part.type === "text-delta") consumed.text += part.delta;
      else if (part.type === "tool-call") consumed.calls.push({ name: part.toolName, input: part.input });
      else if (part.type === "finish") consumed.finish = part.finishReason;
      else if (part.type === "error") failed(part.error);
    }
    const incomplete = incompleteFinish(consumed.finish);
    if (incomplete) consumed.failure ??= incomplete;
  } catch (error) {
    failed(error);
  }
  return consumed;
}
