/**
 * Events between a run and its reader. The run never waits: a slow reader finds the events buffered, a fast one is handed
 * each as it happens. One reader, no web streams in between.
 */
export class EventQueue<T> implements AsyncIterableIterator<T> {
  #buffer: T[] = [];
  #head = 0;
  #waiting: ((next: IteratorResult<T>) => void)[] = [];
  #closed = false;

  push(event: T): void {
    if (this.#closed) return;
    const waiting = this.#waiting.shift();
    if (waiting) waiting({ done: false, value: event });
    else this.#buffer.push(event);
  }

  close(): void {
    this.#closed = true;
    for (const waiting of this.#waiting.splice(0)) waiting({ done: true, value: undefined });
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
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

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
