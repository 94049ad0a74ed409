const SLOW_TICK_MS = 5_000;

/** The listeners of `onChange`, called now and then anyway, so that a missed hint costs seconds and not for ever. */
export class ChangeWatch {
  readonly #listeners = new Set<() => void>();
  readonly #start: () => () => void;
  #stop: (() => void) | undefined;
  #tick: NodeJS.Timeout | undefined;

  /** `start` begins to look for changes and answers the way to stop; it runs only while somebody listens. */
  constructor(start: () => () => void) {
    this.#start = start;
  }

  add(listener: () => void): () => void {
    const own = () => listener(); // the same function may listen twice
    this.#listeners.add(own);
    if (this.#listeners.size === 1) {
      this.#tick = setInterval(this.notify, SLOW_TICK_MS).unref();
      this.#stop = this.#start();
    }
    return () => {
      if (this.#listeners.delete(own) && this.#listeners.size === 0) this.#end();
    };
  }

  readonly notify = (): void => {
    for (const listener of [...this.#listeners]) listener();
  };

  close(): void {
    this.#listeners.clear();
    this.#end();
  }

  #end(): void {
    clearInterval(this.#tick);
    this.#stop?.();
    this.#stop = undefined;
  }
}
