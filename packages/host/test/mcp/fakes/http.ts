import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { bodyOf, type Listening, listening } from "../support/http-server.ts";

/**
 * A Streamable HTTP server of the 2025 era with sessions, honest until told otherwise. `echo` always works; the other
 * tools are named for what is wrong with them.
 */
export interface HttpFake extends Listening {
  /** Methods of the messages it was sent, in order; a GET is `GET`, a DELETE `DELETE`. */
  readonly heard: string[];
  /** Headers of the last request. */
  readonly headers: () => IncomingMessage["headers"];
  /** Forgets every session, as a restarted server does. */
  forget(): void;
}

type Body = { id?: string | number; method?: string; params?: Record<string, unknown> };

const TOOLS = [
  "add",
  "busy",
  "drops",
  "echo",
  "endless",
  "fails",
  "hangs",
  "html",
  "huge",
  "not-json",
  "redirects",
  "silent-stream",
  "truncated",
];

export async function httpFake(port = 0): Promise<HttpFake> {
  const sessions = new Set<string>();
  const heard: string[] = [];
  let last: IncomingMessage["headers"] = {};

  const post = async (request: IncomingMessage, response: ServerResponse) => {
    const body = JSON.parse(await bodyOf(request)) as Body;
    heard.push(body.method ?? "answer");
    if (body.method === "initialize") {
      const session = randomUUID();
      sessions.add(session);
      response.setHeader("mcp-session-id", session);
      const capabilities = { tools: {} };
      const serverInfo = { name: "http fake", version: "1" };
      const { protocolVersion } = body.params ?? {};
      return json(response, body, { protocolVersion, capabilities, serverInfo });
    }
    if (body.method === "server/discover") {
      return problem(response, 400, body, "Bad Request: no session");
    }
    if (!sessions.has(String(request.headers["mcp-session-id"]))) {
      return problem(response, 404, body, "Session not found");
    }
    if (body.id === undefined) return response.writeHead(202).end();
    if (body.method === "tools/list") {
      const tools = TOOLS.map((name) => ({ name, description: name, inputSchema: { type: "object" } }));
      return json(response, body, { tools });
    }
    if (body.method !== "tools/call") return problem(response, 200, body, "Method not found", -32601);
    return call(body, response);
  };

  const server = await listening((request, response) => {
    last = request.headers;
    if (request.method === "POST") return post(request, response);
    heard.push(request.method ?? "");
    return response.writeHead(request.method === "DELETE" ? 200 : 405).end();
  }, port);
  return { ...server, heard, headers: () => last, forget: () => sessions.clear() };
}

function call(body: Body, response: ServerResponse): unknown {
  const token = (body.params?.["_meta"] as { progressToken?: unknown } | undefined)?.progressToken;
  const stream = () => response.writeHead(200, { "content-type": "text/event-stream" });
  const event = (message: object) => `data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`;
  const progress = (value: number) =>
    event({ method: "notifications/progress", params: { progressToken: token, progress: value } });

  switch (body.params?.["name"]) {
    case "add": {
      const given = body.params["arguments"] as { a: number; b: number };
      return json(response, body, text(String(given.a + given.b)));
    }
    case "echo":
      stream().write(progress(0.5));
      return response.end(event({ id: body.id, result: text("over http") }));
    case "fails":
      return problem(response, 500, body, "the database is down");
    case "html":
      return response.writeHead(200, { "content-type": "text/html" }).end("<h1>Welcome to nginx</h1>");
    case "not-json":
      return response.writeHead(200, { "content-type": "application/json" }).end("{oops");
    case "hangs":
      return; // the headers never come
    case "silent-stream":
      return stream().flushHeaders();
    case "drops":
      stream().write(progress(0.5));
      return response.socket?.destroy();
    case "truncated":
      return stream().end(event({ id: body.id, result: text("cut") }).slice(0, -10));
    case "redirects":
      return response.writeHead(307, { location: "http://127.0.0.1:9/elsewhere" }).end();
    case "busy": {
      stream();
      let at = 0;
      const timer = setInterval(() => response.write(progress(++at)), 20);
      return response.on("close", () => clearInterval(timer));
    }
    case "endless":
      stream().write("data: ");
      return flood(response);
    case "huge":
      return json(response, body, text("0123456789".repeat(10_000_000)));
    default:
      return problem(response, 200, body, "no such tool", -32602);
  }
}

/** Bytes without end, as fast as they are taken. */
function flood(response: ServerResponse): void {
  const chunk = "x".repeat(1 << 16);
  const more = () => {
    while (!response.destroyed && response.write(chunk));
    if (!response.destroyed) response.once("drain", more);
  };
  more();
}

const text = (words: string) => ({ content: [{ type: "text", text: words }] });

function json(response: ServerResponse, { id }: Body, result: unknown): unknown {
  response.setHeader("content-type", "application/json");
  return response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
}

function problem(
  response: ServerResponse,
  status: number,
  { id }: Body,
  message: string,
  code = -32000,
): unknown {
  response.writeHead(status, { "content-type": "application/json" });
  return response.end(JSON.stringify({ jsonrpc: "2.0", id: id ?? null, error: { code, message } }));
}
