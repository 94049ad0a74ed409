import { TokenCounter } from "./token-counter.ts";

/** How an engine counts tokens: one counter for each model. */
export class TokenCounters {
  readonly #byModel = new Map<string, TokenCounter>();

  of(model: string): TokenCounter {
    let counter = this.#byModel.get(model);
    if (counter === undefined) {
      counter = new TokenCounter(model);
      this.#byModel.set(model, counter);
    }
    return counter;
  }
}
