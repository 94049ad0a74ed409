/**
 * One effect under way: what can stop it. An abort signal is made only when somebody asks for it, since most tools and
 * hooks never do and making one costs more than the rest of a step.
 */
export class Effect {
  readonly key: string;
  #reason: string | undefined;
  #controller: AbortController | undefined;
  /** Why the signal fired, where it did so without a cancel. */
  #given: string | undefined;
  /** Nearly always there is one at a time; the set is for the rest. */
  #listener: Listener | undefined;
  #more: Set<Listener> | undefined;

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
      const reason = this.#reason ?? this.#given;
      if (reason !== undefined) this.#controller.abort(aborted(reason));
    }
    return this.#controller.signal;
  }

  cancel(reason: string): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    const listeners = [...(this.#listener ? [this.#listener] : []), ...(this.#more ?? [])];
    this.#listener = undefined;
    this.#more = undefined;
    // Whoever waits is answered before the signal fires, so that a tool which reacts to it cannot win the race.
    for (const listener of listeners) listener.cancelled(reason);
    this.#controller?.abort(aborted(reason));
  }

  /** Fires the signal without cancelling: the work is given up, the effect is not. */
  abort(reason: string): void {
    this.#given ??= reason;
    this.#controller?.abort(aborted(reason));
  }

  /** Tells `listener` when the effect is cancelled, at once if it already was. */
  onCancel(listener: Listener): void {
    if (this.#reason !== undefined) listener.cancelled(this.#reason);
    else if (this.#listener === undefined) this.#listener = listener;
    else {
      this.#more ??= new Set();
      this.#more.add(listener);
    }
  }

  offCancel(listener: Listener): void {
    if (this.#listener === listener) this.#listener = undefined;
    else this.#more?.delete(listener);
  }
}

/** Whoever wants to know: an object, so that one that exists already can listen without a closure made for it. */
interface Listener {
  cancelled(reason: string): void;
}

function aborted(reason: string): DOMException {
  return new DOMException(reason, "AbortError");
}
