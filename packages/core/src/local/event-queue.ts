/**
 * Events between a run and its reader. The run never waits: a slow reader finds the events buffered, a fast one is handed
 * each as it happens. One reader, no web streams in between.
 */
export class EventQueue<T> implements AsyncIterableIterator<T> {
  #buffer: T[] = [];
  #head = 0;
  #waiting: ((next: IteratorResult<T>) => void) | undefined;
  /** Readers that asked again before they were answered: rare, but allowed. */
  #queued: ((next: IteratorResult<T>) => void)[] = [];
  #closed = false;

  push(event: T): void {
    if (this.#closed) return;
    const waiting = this.#waiting;
    if (waiting === undefined) {
      this.#buffer.push(event);
      return;
    }
    this.#waiting = this.#queued.length > 0 ? this.#queued.shift() : undefined;
    waiting({ done: false, value: event });
  }

  close(): void {
    this.#closed = true;
    this.#waiting?.({ done: true, value: undefined });
    this.#waiting = undefined;
    for (const waiting of this.#queued.splice(0)) waiting({ done: true, value: undefined });
  }

  next(): Promise<IteratorResult<T>> {
    if (this.#head < this.#buffer.length) {
      const value = this.#buffer[this.#head] as T; // the index is within the buffer
      this.#head += 1;
      if (this.#head === this.#buffer.length || this.#head > 1024) {
        this.#buffer = this.#buffer.slice(this.#head);
        this.#head = 0;
      }
      return Promise.resolve({ done: false, value });
    }
    if (this.#closed) return Promise.resolve({ done: true, value: undefined });
    return new Promise(this.#wait);
  }

  readonly #wait = (resolve: (next: IteratorResult<T>) => void): void => {
    if (this.#waiting === undefined) this.#waiting = resolve;
    else this.#queued.push(resolve);
  };

  /** The reader has had enough; the run goes on without it. */
  return(): Promise<IteratorResult<T>> {
    this.#buffer = [];
    this.#head = 0;
    this.close();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
