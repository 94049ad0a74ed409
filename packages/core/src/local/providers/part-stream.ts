/**
 * A stream for readers that use `for await`, with none of the queues and promises of a web stream behind it.
 * The web stream methods work too, for readers that insist on them (`pipeThrough`, `getReader`, …): the first
 * such use builds a real stream around the same iterator. Like a web stream it can be read once.
 */
export function partStream<T>(start: () => AsyncIterator<T>): ReadableStream<T> {
  // Every member of the interface is there; what differs is overloads and the brand, which no reader of ours asks.
  return new PartStream(start) as unknown as ReadableStream<T>;
}

class PartStream<T> {
  #start: (() => AsyncIterator<T>) | undefined;
  #web: ReadableStream<T> | undefined;

  constructor(start: () => AsyncIterator<T>) {
    this.#start = start;
  }

  [Symbol.asyncIterator](): AsyncIterator<T> {
    return this.#web ? this.#web[Symbol.asyncIterator]() : this.#take();
  }

  get locked(): boolean {
    return this.#web ? this.#web.locked : this.#start === undefined;
  }

  values(...args: Parameters<ReadableStream<T>["values"]>) {
    return this.#asWeb().values(...args);
  }

  cancel(reason?: unknown) {
    return this.#asWeb().cancel(reason);
  }

  getReader(options?: ReadableStreamGetReaderOptions) {
    return this.#asWeb().getReader(options);
  }

  pipeThrough(...args: Parameters<ReadableStream<T>["pipeThrough"]>) {
    return this.#asWeb().pipeThrough(...args);
  }

  pipeTo(...args: Parameters<ReadableStream<T>["pipeTo"]>) {
    return this.#asWeb().pipeTo(...args);
  }

  tee() {
    return this.#asWeb().tee();
  }

  #take(): AsyncIterator<T> {
    const start = this.#start;
    if (!start) throw new TypeError("This stream is already being read; a stream can be read once.");
    this.#start = undefined;
    return start();
  }

  #asWeb(): ReadableStream<T> {
    if (!this.#web) {
      const iterator = this.#take();
      this.#web = ReadableStream.from({ [Symbol.asyncIterator]: () => iterator });
    }
    return this.#web;
  }
}

type ReadableStreamGetReaderOptions = Parameters<ReadableStream["getReader"]>[0];
