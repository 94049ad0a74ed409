import { dropConnection } from "./connections.ts";

/** One event of a stream. */
export interface ServerEvent {
  /** What to come back with: browsers send it as `Last-Event-ID`. */
  readonly id?: string;
  /** Its type; without one, `message`. */
  readonly event?: string;
  /** Text, which may have several lines. */
  readonly data: string;
}

export interface EventStreamOptions {
  /** The request it answers, whose connection is cut when nobody reads. */
  readonly request: Request;
  /** Ends the stream: the client is gone, or the server closes. */
  readonly signal: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
  /** How long browsers wait before they come back. */
  readonly retryMs?: number;
  readonly heartbeatMs?: number;
  /** So long may a reader take nothing before its connection is cut. */
  readonly stalledMs?: number;
}

const BUFFERED_BYTES = 64 * 1024;
const HEARTBEAT = ":\n\n";
const encoder = new TextEncoder();

/**
 * Answers with events as they come. What a reader does not take is not asked of the source: nothing piles up, and whoever
 * is that slow is cut off and comes back with its last id. Whatever comes in one go is sent in one piece.
 */
export function eventStream(source: AsyncIterable<ServerEvent>, options: EventStreamOptions): Response {
  const writer = new StreamWriter(source, options);
  return new Response(writer.readable, {
    headers: {
      ...options.headers,
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store, no-transform",
      // Proxies that collect answers would hold events back.
      "x-accel-buffering": "no",
    },
  });
}

/** An event on the wire. */
export function formatEvent({ id, event, data }: ServerEvent): string {
  let text = "";
  if (event !== undefined) text += `event: ${oneLine(event)}\n`;
  if (id !== undefined) text += `id: ${oneLine(id)}\n`;
  const lines = /[\r\n]/.test(data) ? data.split(/\r\n|\r|\n/) : [data];
  for (const line of lines) text += `data: ${line}\n`;
  return `${text}\n`;
}

function oneLine(text: string): string {
  return text.replaceAll(/[\r\n\0]/g, " ");
}

class StreamWriter {
  readonly readable: ReadableStream<Uint8Array>;
  readonly #iterator: AsyncIterator<ServerEvent>;
  readonly #options: EventStreamOptions;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #waiting = "";
  #flushing = false;
  #room: (() => void) | undefined;
  #fullSince = 0;
  #writtenAt = Date.now();
  #ended = false;

  constructor(source: AsyncIterable<ServerEvent>, options: EventStreamOptions) {
    this.#iterator = source[Symbol.asyncIterator]();
    this.#options = options;
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => {
          this.#fullSince = 0;
          this.#room?.();
        },
        cancel: () => this.#end(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: BUFFERED_BYTES }),
    );
    this.#waiting = `retry: ${options.retryMs ?? 1000}\n\n`;
    options.signal.addEventListener("abort", this.#onAbort, { once: true });
    if (options.signal.aborted) this.#end();
    else {
      this.#flushSoon();
      beating.add(this);
      startBeating();
      void this.#pump();
    }
  }

  readonly #onAbort = () => this.#end();

  async #pump(): Promise<void> {
    try {
      while (!this.#ended) {
        const { done, value } = await this.#iterator.next();
        if (done === true || this.#ended) break;
        this.#waiting += formatEvent(value);
        this.#flushSoon();
        if (this.#waiting.length >= BUFFERED_BYTES || this.#full) await this.#untilRoom();
      }
    } catch {
      // The source failed after the answer began: the reader comes back and is told then.
    }
    this.#end();
  }

  get #full(): boolean {
    return (this.#controller?.desiredSize ?? 0) <= 0;
  }

  async #untilRoom(): Promise<void> {
    this.#flush();
    while (this.#full && !this.#ended) {
      this.#fullSince ||= Date.now();
      await new Promise<void>((resolve) => {
        this.#room = resolve;
      });
    }
    this.#room = undefined;
  }

  #flushSoon(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => {
      this.#flushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#ended || this.#waiting === "") return;
    const bytes = encoder.encode(this.#waiting);
    this.#waiting = "";
    this.#writtenAt = Date.now();
    this.#controller?.enqueue(bytes);
  }

  /** Called every now and then: says that the connection lives, or ends it when nobody reads. */
  beat(now: number): void {
    const { heartbeatMs = 15_000, stalledMs = 30_000, request } = this.#options;
    if (this.#fullSince > 0 && now - this.#fullSince >= stalledMs) {
      this.#end();
      dropConnection(request);
      return;
    }
    if (now - this.#writtenAt < heartbeatMs || this.#full) return;
    this.#waiting += HEARTBEAT;
    this.#flush();
  }

  #end(): void {
    if (this.#ended) return;
    this.#flush();
    this.#ended = true;
    beating.delete(this);
    this.#options.signal.removeEventListener("abort", this.#onAbort);
    this.#room?.();
    // A generator that waits for its next event ends with the signal it was given; nobody waits for that here.
    this.#iterator.return?.().catch(() => {});
    try {
      this.#controller?.close();
    } catch {
      // The reader went away first.
    }
  }
}

/** One timer for all streams: five hundred of them would cost more than what they send. */
const beating = new Set<StreamWriter>();
let beat: NodeJS.Timeout | undefined;

function startBeating(): void {
  beat ??= setInterval(() => {
    const now = Date.now();
    for (const writer of beating) writer.beat(now);
    if (beating.size > 0) return;
    clearInterval(beat);
    beat = undefined;
  }, 1000).unref();
}
