import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Listening {
  readonly url: string;
  readonly port: number;
  /** Also ends connections that are still open. */
  close(): Promise<void>;
}

/** An HTTP server on a free loopback port, or on a port it had before. */
export async function listening(
  handle: (request: IncomingMessage, response: ServerResponse) => unknown,
  port = 0,
): Promise<Listening> {
  const server: Server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, "127.0.0.1", resolve);
  });
  const { port: taken } = server.address() as AddressInfo; // listening on TCP
  return {
    url: `http://127.0.0.1:${taken}/mcp`,
    port: taken,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

/** Lets a server written for `fetch` answer a request of Node's. */
export async function answerWith(
  handler: (request: Request) => Promise<Response>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const aborter = new AbortController();
  response.on("close", () => aborter.abort());
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) headers.set(name, String(value));
  const method = request.method ?? "GET";
  const body = method === "GET" ? null : await bodyOf(request);
  const answer = await handler(
    new Request(`http://127.0.0.1${request.url}`, { method, headers, body, signal: aborter.signal }),
  );
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  try {
    for await (const chunk of answer.body ?? []) response.write(chunk);
  } catch {
    // the client went away, which is what some tests are about
  }
  response.end();
}
