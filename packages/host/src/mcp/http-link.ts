import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Link } from "./wire.ts";

/** How long a server gets to forget a session we are done with. */
const GOODBYE_MS = 2_000;

/** Streamable HTTP with bounded answers. Redirects stay within the origin, so that no header goes elsewhere. */
export class HttpLink extends StreamableHTTPClientTransport implements Link {
  readonly noise = "";
  readonly stderr: readonly string[] = [];
  #fault: string | undefined;
  #closing: Promise<void> | undefined;

  constructor(
    url: URL,
    headers: Readonly<Record<string, string>>,
    maxMessageBytes: number,
    received: (bytes: number) => void,
  ) {
    super(url, {
      requestInit: { headers: { ...headers } },
      fetch: (input, init) =>
        boundedFetch(input, init, maxMessageBytes, received, (fault) => this.fail(fault)),
      redirectPolicy: "same-origin",
    });
  }

  get fault(): string | undefined {
    return this.#fault;
  }

  fail(fault: string): void {
    this.#fault ??= fault;
    void this.close();
  }

  /** Sockets of `fetch` cannot be held or let go one by one. */
  hold(): void {}

  override close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.sessionId !== undefined && this.#fault === undefined) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, GOODBYE_MS);
      });
      // A courtesy: a server that does not take it forgets by itself.
      await Promise.race([this.terminateSession().catch(() => undefined), late]);
      clearTimeout(timer);
    }
    await super.close();
  }
}

async function boundedFetch(
  input: string | URL,
  init: RequestInit | undefined,
  maxBytes: number,
  received: (bytes: number) => void,
  fail: (fault: string) => void,
): Promise<Response> {
  const response = await fetch(input, init);
  if (response.body === null) return response;
  const size = response.headers.get("content-type")?.startsWith("text/event-stream")
    ? new EventSize()
    : new BodySize();
  const bounded = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      received(chunk.length);
      if (size.add(chunk) <= maxBytes) {
        controller.enqueue(chunk);
        return;
      }
      const fault = `sent a message of more than ${maxBytes} bytes`;
      controller.error(new Error(fault));
      fail(fault);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(bounded), { status, statusText, headers });
}

class BodySize {
  #bytes = 0;

  add(chunk: Uint8Array): number {
    this.#bytes += chunk.length;
    return this.#bytes;
  }
}

/** The size of the event that is coming in: a stream is as long as it likes, an event ends with an empty line. */
class EventSize {
  #event = 0;
  #line = 0;

  add(chunk: Uint8Array): number {
    let start = 0;
    let largest = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      const line = this.#line + end - start;
      this.#event += end - start + 1;
      largest = Math.max(largest, this.#event);
      if (line === 0 || (line === 1 && (end === 0 || chunk[end - 1] === 13))) this.#event = 0;
      this.#line = 0;
      start = end + 1;
    }
    this.#line += chunk.length - start;
    this.#event += chunk.length - start;
    return Math.max(largest, this.#event);
  }
}
