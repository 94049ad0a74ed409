import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { SseEvent } from "./wires.ts";

export { type SseEvent, type Wire, type WireErrorKind, wires } from "./wires.ts";

/** What goes wrong with one answer. Without any of it the events are sent whole and the response ends. */
export type Fault = {
  /** Answers with this status and `body` instead of a stream. */
  status?: number;
  body?: unknown;
  /** Response headers, such as `retry-after`. */
  headers?: Record<string, string>;
  /** Ends after this many events. */
  cutAfterEvents?: number;
  /** Ends after this many bytes of the event stream. */
  cutAtByte?: number;
  /** How a cut ends: `clean` (default) closes the response properly, as proxies do; `close` drops the socket. */
  cut?: "clean" | "close";
  /** The cut is a TCP reset; with no cut given, the connection is reset before anything is answered. */
  reset?: true;
  /** Sends `errorEvent` in place of the event with this index and ends the response. */
  errorEventAt?: number;
  errorEvent?: SseEvent;
  /** Stays silent before event `stallAtEvent`, or before the status line, until the client disconnects. */
  stall?: true;
  stallAtEvent?: number;
  /** Called again and again while the answer stalls. Between two calls the client can read everything it was sent. */
  whileStalled?: () => void;
};

export type WireReply = Fault & { events?: SseEvent[] };

export type WireRequest = {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  body: unknown;
};

export type WireServer = {
  /** `http://127.0.0.1:<port>`; append `/v1` for a base URL. */
  readonly origin: string;
  readonly requests: WireRequest[];
  /** How many requests have arrived. */
  readonly count: number;
  /** Connections that are open now: 0 soon after a client has cancelled or was answered. */
  readonly openStreams: number;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

/**
 * An HTTP server on a free loopback port that answers request number n with reply number n; the last reply is
 * repeated when `repeatLast` is set, otherwise a request too many gets a 400 that says so. It tells clients that a
 * connection may be kept for `keepAliveMs`.
 */
export async function startWireServer(
  replies: WireReply[] | ((number: number, request: WireRequest) => WireReply),
  options: { repeatLast?: boolean; keepAliveMs?: number } = {},
): Promise<WireServer> {
  const requests: WireRequest[] = [];
  let openStreams = 0;
  const replyFor = (number: number, request: WireRequest): WireReply => {
    if (typeof replies === "function") return replies(number, request);
    const reply = replies[number] ?? (options.repeatLast ? replies.at(-1) : undefined);
    const message = `wire server: request ${number + 1} came, ${replies.length} were scripted`;
    return reply ?? { status: 400, body: { type: "error", error: { type: "unscripted", message } } };
  };

  const server = createServer((incoming, outgoing) => {
    openStreams += 1;
    outgoing.once("close", () => {
      openStreams -= 1;
    });
    void (async () => {
      const request = await readRequest(incoming);
      requests.push(request);
      await answer(outgoing, replyFor(requests.length - 1, request));
    })().catch(() => outgoing.destroy()); // a client that went away while it was answered
  });
  if (options.keepAliveMs !== undefined) server.keepAliveTimeout = options.keepAliveMs;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // a string only for pipes

  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return {
    origin: `http://127.0.0.1:${port}`,
    requests,
    get count() {
      return requests.length;
    },
    get openStreams() {
      return openStreams;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function readRequest(incoming: IncomingMessage): Promise<WireRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString("utf8");
  return {
    method: incoming.method ?? "",
    path: incoming.url ?? "",
    headers: incoming.headers,
    body: text === "" ? undefined : JSON.parse(text),
  };
}

async function answer(outgoing: ServerResponse, reply: WireReply): Promise<void> {
  if (reply.stall && reply.stallAtEvent === undefined) return stall(outgoing, reply);
  if (reply.status !== undefined) {
    const body = reply.body === undefined ? "" : JSON.stringify(reply.body);
    outgoing.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
    outgoing.end(body);
    return;
  }
  const isCut = reply.cutAfterEvents !== undefined || reply.cutAtByte !== undefined;
  if (reply.reset && !isCut) {
    outgoing.socket?.resetAndDestroy();
    return;
  }
  outgoing.writeHead(200, {
    "content-type": "text/event-stream",
    "cache-control": "no-cache",
    ...reply.headers,
  });
  outgoing.flushHeaders();

  let bytesLeft = reply.cutAtByte ?? Number.POSITIVE_INFINITY;
  for (const [index, event] of (reply.events ?? []).entries()) {
    if (index === reply.cutAfterEvents || bytesLeft === 0) break;
    if (reply.stall && index === reply.stallAtEvent) return stall(outgoing, reply);
    const isError = index === reply.errorEventAt;
    const bytes = Buffer.from(encode(isError && reply.errorEvent ? reply.errorEvent : event));
    await write(outgoing, bytes.subarray(0, Math.min(bytes.length, bytesLeft)));
    bytesLeft -= Math.min(bytes.length, bytesLeft);
    if (isError) break;
  }

  if (isCut && reply.reset) {
    await sleep(5); // let what was written leave first: a reset discards what is still in the send buffer
    outgoing.socket?.resetAndDestroy();
  } else if (isCut && reply.cut === "close") {
    outgoing.socket?.end();
  } else {
    outgoing.end();
  }
}

async function stall(outgoing: ServerResponse, { whileStalled }: WireReply): Promise<void> {
  while (whileStalled && !outgoing.destroyed) {
    for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
    whileStalled();
  }
}

function write(outgoing: ServerResponse, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    outgoing.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}

/** The bytes of a whole event stream, for tests that cut it at every byte. */
export function encodeEvents(events: SseEvent[]): Buffer {
  return Buffer.from(events.map(encode).join(""));
}

function encode({ event, data }: SseEvent): string {
  const text = typeof data === "string" ? data : JSON.stringify(data);
  return `${event === undefined ? "" : `event: ${event}\n`}data: ${text}\n\n`;
}
