/**
 * One effect under way: what can stop it. An abort signal is made only when somebody asks for it, since most tools and
 * hooks never do and making one costs more than the rest of a step.
 */
export class Effect {
  readonly key: string;
  #reason: string | undefined;
  #controller: AbortController | undefined;
  #listeners: Set<(reason: string) => void> | undefined;

  constructor(key: string) {
    this.key = key;
  }

  /** Why it was cancelled; undefined while it was not. */
  get cancelled(): string | undefined {
    return this.#reason;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(aborted(this.#reason));
    }
    return this.#controller.signal;
  }

  cancel(reason: string): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    const listeners = this.#listeners;
    this.#listeners = undefined;
    // Whoever waits is answered before the signal fires, so that a tool which reacts to it cannot win the race.
    for (const listener of listeners ?? []) listener(reason);
    this.#controller?.abort(aborted(reason));
  }

  /** Fires the signal without cancelling: the work is given up, the effect is not. */
  abort(reason: string): void {
    this.#controller?.abort(aborted(reason));
  }

  /** Calls `listener` when the effect is cancelled, at once if it already was. Returns how to stop listening. */
  onCancel(listener: (reason: string) => void): () => void {
    if (this.#reason !== undefined) {
      listener(this.#reason);
      return () => {};
    }
    this.#listeners ??= new Set();
    this.#listeners.add(listener);
    return () => this.#listeners?.delete(listener);
  }
}

function aborted(reason: string): DOMException {
  return new DOMException(reason, "AbortError");
}
