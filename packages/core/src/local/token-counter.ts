import {
  estimating,
  type FixedPart,
  type Sizer,
  sizeFixedPart,
  sizeMessage,
  sizeParts,
} from "../context/estimate.ts";
import { familyOf, type ModelFamily } from "../context/model-family.ts";
import type { Message, UserPart } from "../schema/message.ts";
import type { Maybe } from "./maybe.ts";
import { loadTokenizer } from "./tokenizers.ts";

/**
 * Counts the tokens of requests to one model: by its real tokenizer where there is one and its package is installed, else
 * by the calibrated estimate. A tokenizer loads while nobody waits, and until then the estimate answers; so that all
 * counts of a run are of one kind, `ready()` is awaited before the first of them. After it no count changes any more. What
 * a run has decided by its counts is in its journal: a replay does not count again.
 */
export class TokenCounter {
  readonly model: string;
  readonly family: ModelFamily;
  readonly #load: typeof loadTokenizer;
  #sizer: Sizer;
  #exact = false;
  #messages = new WeakMap<Message, number>();
  #fixed: { readonly part: FixedPart; readonly tokens: number } | undefined;
  #isReady: boolean;
  #ready: Promise<void> | undefined;

  /** @param model `provider:model` */
  constructor(model: string, load: typeof loadTokenizer = loadTokenizer) {
    this.model = model;
    this.family = familyOf(model);
    this.#load = load;
    this.#sizer = estimating(this.family);
    this.#isReady = this.family.encoding === null;
  }

  /** Whether texts are counted by the model's own tokenizer. */
  get exact(): boolean {
    return this.#exact;
  }

  /** Settles once the tokenizer is loaded, or known not to be there. It never fails, and there is no wait after the first. */
  ready(): Maybe<void> {
    if (this.#isReady) return undefined;
    this.#ready ??= this.#prepare();
    return this.#ready;
  }

  text(text: string): number {
    return Math.ceil(this.#sizer.text(text));
  }

  /** A message as it is sent. Nothing is kept of it: for whoever asks once, or keeps it himself, as a log does. */
  readonly size = (message: Message): number => sizeMessage(message, this.#sizer);

  /** The same for whoever asks again and again. Messages never change, so each is counted once. */
  readonly message = (message: Message): number => {
    let tokens = this.#messages.get(message);
    if (tokens === undefined) {
      tokens = sizeMessage(message, this.#sizer);
      this.#messages.set(message, tokens);
    }
    return tokens;
  };

  /** The parts of a user message, as a message of their own. */
  parts(parts: readonly UserPart[]): number {
    return sizeParts(parts, this.#sizer);
  }

  /** What a request has before its first message: system prompt, tools, and what the provider adds. */
  request(part: FixedPart): number {
    const { system, tools } = part;
    const last = this.#fixed;
    if (last !== undefined && last.part.system === system && last.part.tools === tools) return last.tokens;
    const tokens = sizeFixedPart(part, this.#sizer);
    this.#fixed = { part: { system, tools }, tokens };
    return tokens;
  }

  async #prepare(): Promise<void> {
    const { encoding } = this.family;
    const text = encoding === null ? null : await this.#load(encoding).catch(() => null);
    this.#isReady = true;
    if (text === null) return;
    this.#sizer = { family: this.family, text };
    this.#exact = true;
    this.#messages = new WeakMap();
    this.#fixed = undefined;
  }
}
