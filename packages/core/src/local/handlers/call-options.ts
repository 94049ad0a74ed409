import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
} from "@ai-sdk/provider";
import type { Effect } from "../effect.ts";

/**
 * What a model is called with. The signal is made when the provider reads it, since one costs more than the rest of a step;
 * it is a field of the object's own all the same, so that whoever copies the options copies it too.
 */
export class CallOptions implements LanguageModelV4CallOptions {
  readonly prompt: LanguageModelV4Prompt;
  declare readonly abortSignal: AbortSignal;
  tools?: LanguageModelV4FunctionTool[];
  maxOutputTokens?: number;
  temperature?: number;
  responseFormat?: NonNullable<LanguageModelV4CallOptions["responseFormat"]>;
  readonly #effect: Effect;

  constructor(prompt: LanguageModelV4Prompt, effect: Effect) {
    this.prompt = prompt;
    this.#effect = effect;
    Object.defineProperty(this, "abortSignal", CallOptions.#signal);
  }

  /** One for all: a getter written into each object costs as much as the rest of the request. */
  static readonly #signal: PropertyDescriptor & ThisType<CallOptions> = {
    enumerable: true,
    configurable: true,
    get() {
      return this.#effect.signal;
    },
  };
}
