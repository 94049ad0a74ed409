import type {
  LanguageModelV2,
  LanguageModelV3,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from "@ai-sdk/provider";
import { v2Call, v2Content, v2FinishReason, v2Part, v2Usage, v2Warnings } from "./adapt-v2.ts";
import { v3Call, v3Content, v3Part } from "./adapt-v3.ts";
import { partStream } from "./part-stream.ts";

/** Every language model object a user may pass in code (A6): specification 2, 3 or 4. */
export type AnyLanguageModel = LanguageModelV2 | LanguageModelV3 | LanguageModelV4;

/**
 * What the loop calls: specification 4, asking only that the stream can be read with `for await`.
 * Every `LanguageModelV4` is one.
 */
export type Model = Omit<LanguageModelV4, "doStream"> & {
  doStream(options: LanguageModelV4CallOptions): PromiseLike<ModelStream>;
};

export type ModelStream = Omit<LanguageModelV4StreamResult, "stream"> & {
  stream: AsyncIterable<LanguageModelV4StreamPart>;
};

export function isLanguageModel(value: unknown): value is AnyLanguageModel {
  if (typeof value !== "object" || value === null) return false;
  const model: { specificationVersion?: unknown; doStream?: unknown; doGenerate?: unknown } = value;
  const version = model.specificationVersion;
  return (
    (version === "v2" || version === "v3" || version === "v4") &&
    typeof model.doStream === "function" &&
    typeof model.doGenerate === "function"
  );
}

/**
 * A model of specification 4 is returned untouched. An older one is seen through a translation of what goes
 * in and what comes out; what its specification cannot express is left out with a warning on the stream when
 * the model can answer without it, and refused (`UnsupportedFunctionalityError`) when it cannot.
 */
export function adaptModel(model: AnyLanguageModel): LanguageModelV4 {
  switch (model.specificationVersion) {
    case "v4":
      return model;
    case "v3":
      return fromV3(model);
    case "v2":
      return fromV2(model);
    default:
      throw new TypeError(unknownVersion(model));
  }
}

function unknownVersion(model: never): string {
  const { specificationVersion: given }: { specificationVersion?: unknown } = Object(model);
  return (
    `A language model must have specificationVersion "v2", "v3" or "v4", this one has ${JSON.stringify(given)}. ` +
    "Install a current version of its provider package."
  );
}

function fromV3(model: LanguageModelV3): LanguageModelV4 {
  return {
    specificationVersion: "v4",
    provider: model.provider,
    modelId: model.modelId,
    get supportedUrls() {
      return model.supportedUrls;
    },
    async doGenerate(options) {
      const { call, warnings } = v3Call(options);
      const result = await model.doGenerate(call);
      return {
        ...result,
        content: result.content.map(v3Content),
        warnings: [...warnings, ...result.warnings],
      };
    },
    async doStream(options) {
      const { call, warnings } = v3Call(options);
      const result = await model.doStream(call);
      return {
        ...result,
        stream: mapped(result.stream, (part) =>
          part.type === "stream-start" && warnings.length > 0
            ? { type: "stream-start", warnings: [...warnings, ...part.warnings] }
            : v3Part(part),
        ),
      };
    },
  };
}

function fromV2(model: LanguageModelV2): LanguageModelV4 {
  return {
    specificationVersion: "v4",
    provider: model.provider,
    modelId: model.modelId,
    get supportedUrls() {
      return model.supportedUrls;
    },
    async doGenerate(options) {
      const { call, warnings } = v2Call(options);
      const result = await model.doGenerate(call);
      return {
        ...result,
        content: result.content.map(v2Content),
        finishReason: v2FinishReason(result.finishReason),
        usage: v2Usage(result.usage),
        warnings: [...warnings, ...v2Warnings(result.warnings)],
      };
    },
    async doStream(options) {
      const { call, warnings } = v2Call(options);
      const result = await model.doStream(call);
      return {
        ...result,
        stream: mapped(result.stream, (part) =>
          part.type === "stream-start"
            ? { type: "stream-start", warnings: [...warnings, ...v2Warnings(part.warnings)] }
            : v2Part(part),
        ),
      };
    },
  };
}

function mapped<A, B>(source: ReadableStream<A>, map: (part: A) => B): ReadableStream<B> {
  return partStream<B>(() => {
    const reader = source.getReader();
    const translate = (step: { done: boolean; value?: A | undefined }): IteratorResult<B, undefined> =>
      // A step that is not done always carries its value; the reader's type does not say so.
      step.done ? { done: true, value: undefined } : { done: false, value: map(step.value as A) };
    return {
      next: () => reader.read().then(translate),
      async return() {
        await reader.cancel();
        return { done: true, value: undefined };
      },
    };
  });
}
