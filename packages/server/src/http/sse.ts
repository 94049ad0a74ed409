import { connectionOf } from "./connections.ts";

/** One event of a stream. */
export interface ServerEvent {
  /** What to come back with: browsers send it as `Last-Event-ID`. */
  readonly id?: string;
  /** Its type; without one, `message`. */
  readonly event?: string;
  /** A text as it is, anything else as JSON. */
  readonly data: unknown;
}

export interface EventStreamOptions {
  /** Where to begin for whoever has no `Last-Event-ID` yet. */
  readonly after?: string | undefined;
  /** What happens after an id. It ends with the signal. */
  readonly events: (after: string | undefined, signal: AbortSignal) => AsyncIterable<ServerEvent>;
  readonly headers?: Readonly<Record<string, string>>;
  /** How long browsers wait before they come back. */
  readonly retryMs?: number;
  readonly heartbeatMs?: number;
  /** So long may a reader take nothing before its connection is cut. */
  readonly stalledMs?: number;
}

/** What is answered: the request, and when to stop. */
interface Asked {
  readonly request: Request;
  /** Aborted when the client is gone, or the server closes. */
  readonly signal: AbortSignal;
}

const BUFFERED_BYTES = 64 * 1024;
const HEARTBEAT = ":\n\n";
const encoder = new TextEncoder();

/**
 * Answers with events as they come. What a reader does not take is not asked of the source: nothing piles up, and whoever
 * is that slow is cut off and comes back with its last id. Whatever comes in one go is sent in one piece.
 */
export function eventStream(asked: Asked, options: EventStreamOptions): Response {
  const headers = {
    ...options.headers,
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store, no-transform",
    // Proxies that collect answers would hold events back.
    "x-accel-buffering": "no",
  };
  if (asked.request.method === "HEAD") return new Response(null, { headers });
  const last = asked.request.headers.get("last-event-id");
  const after = last === null || last === "" ? options.after : last;
  const stop = new AbortController();
  const signal = AbortSignal.any([asked.signal, stop.signal]);
  const source = options.events(after, signal);
  const writer = new StreamWriter(source, asked, options, () => stop.abort());
  return new Response(writer.readable, { headers });
}

/** An event on the wire. */
export function formatEvent({ id, event, data }: ServerEvent): string {
  let text = "";
  if (event !== undefined) text += `event: ${oneLine(event)}\n`;
  if (id !== undefined) text += `id: ${oneLine(id)}\n`;
  const content = typeof data === "string" ? data : JSON.stringify(data);
  const lines = /[\r\n]/.test(content) ? content.split(/\r\n|\r|\n/) : [content];
  for (const line of lines) text += `data: ${line}\n`;
  return `${text}\n`;
}

function oneLine(text: string): string {
  return text.replaceAll(/[\r\n\0]/g, " ");
}

class StreamWriter {
  readonly readable: ReadableStream<Uint8Array>;
  readonly #iterator: AsyncIterator<ServerEvent>;
  readonly #asked: Asked;
  readonly #options: EventStreamOptions;
  readonly #stop: () => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #waiting = "";
  #flushing = false;
  #room: (() => void) | undefined;
  #fullSince = 0;
  #writtenAt = Date.now();
  #ended = false;

  constructor(
    source: AsyncIterable<ServerEvent>,
    asked: Asked,
    options: EventStreamOptions,
    stop: () => void,
  ) {
    this.#iterator = source[Symbol.asyncIterator]();
    this.#asked = asked;
    this.#options = options;
    this.#stop = stop;
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
    asked.signal.addEventListener("abort", this.#onAbort, { once: true });
    if (asked.signal.aborted) this.#end();
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
    } catch (error) {
      this.#tell(error);
    }
    this.#end();
  }

  /** The source failed after the answer began, so its status cannot say so. */
  #tell(error: unknown): void {
    if (this.#ended) return;
    const data = connectionOf(this.#asked.request)?.problem(error);
    if (data !== undefined) this.#waiting += formatEvent({ event: "problem", data });
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
    const { heartbeatMs = 15_000, stalledMs = 30_000 } = this.#options;
    if (this.#fullSince > 0 && now - this.#fullSince >= stalledMs) {
      this.#end();
      connectionOf(this.#asked.request)?.drop();
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
    this.#asked.signal.removeEventListener("abort", this.#onAbort);
    this.#room?.();
    // A generator that waits for its next event ends with its signal; nobody waits for that here.
    this.#stop();
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
