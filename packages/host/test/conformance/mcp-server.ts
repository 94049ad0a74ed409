import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { bodyOf, type Listening, listening } from "../mcp/support/http-server.ts";

type Params = Record<string, unknown>;
type Id = string | number;

/** One call of a tool, as the server sees it. */
export interface McpCall {
  readonly arguments: Params;
  progress(progress: number, total?: number): void;
  /** Asks the client's user. Resolves with the client's answer. */
  elicit(message: string, requestedSchema: object): Promise<Params>;
}

export interface McpTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema?: object;
  /** Answers with text. */
  readonly call: (call: McpCall) => string | Promise<string>;
}

/** An MCP server over Streamable HTTP in this process, so that a check can change it and hold its calls. */
export class McpFake {
  /** What it lists and answers, changed at will. */
  tools: readonly McpTool[];
  /** Requests the client has cancelled. */
  readonly cancelled: unknown[] = [];
  readonly #sessions = new Set<string>();
  readonly #asked = new Map<Id, (answer: Params) => void>();
  #server: Listening | undefined;

  private constructor(tools: readonly McpTool[]) {
    this.tools = tools;
  }

  static async start(...tools: readonly McpTool[]): Promise<McpFake> {
    const fake = new McpFake(tools);
    fake.#server = await listening((request, response) => fake.#handle(request, response));
    return fake;
  }

  get url(): string {
    return this.#server?.url ?? "";
  }

  async close(): Promise<void> {
    await this.#server?.close();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    if (request.method !== "POST") return response.writeHead(request.method === "DELETE" ? 200 : 405).end();
    const body = JSON.parse(await bodyOf(request)) as { id?: Id; method?: string; params?: Params };
    const { id, method, params = {} } = body;
    if (method === undefined) {
      this.#asked.get(id ?? "")?.(body);
      return response.writeHead(202).end();
    }
    const answer = (message: object, status = 200) => {
      response.writeHead(status, { "content-type": "application/json" });
      return response.end(JSON.stringify({ jsonrpc: "2.0", id: id ?? null, ...message }));
    };
    if (method === "initialize") {
      const session = randomUUID();
      this.#sessions.add(session);
      response.setHeader("mcp-session-id", session);
      const serverInfo = { name: "fake", version: "1.0.0" };
      return answer({
        result: { protocolVersion: params["protocolVersion"], capabilities: { tools: {} }, serverInfo },
      });
    }
    if (!this.#sessions.has(String(request.headers["mcp-session-id"])))
      return answer({ error: { code: -32000, message: "no session" } }, 400);
    if (method === "notifications/cancelled") this.cancelled.push(params["requestId"]);
    if (id === undefined) return response.writeHead(202).end();
    if (method === "tools/list")
      return answer({
        result: {
          tools: this.tools.map(({ name, description, inputSchema = { type: "object" } }) => ({
            name,
            description,
            inputSchema,
          })),
        },
      });
    if (method === "tools/call") return this.#call(id, params, response);
    return answer({ error: { code: -32601, message: `no method ${method}` } });
  }

  async #call(id: Id, params: Params, response: ServerResponse): Promise<void> {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (message: object) => {
      if (!response.destroyed) response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`);
    };
    const { progressToken } = (params["_meta"] ?? {}) as Params; // an object by the protocol
    const tool = this.tools.find(({ name }) => name === params["name"]);
    const text = await tool?.call({
      arguments: (params["arguments"] ?? {}) as Params, // an object by the protocol
      progress: (progress, total) => {
        const update = { progressToken, progress, ...(total === undefined ? {} : { total }) };
        if (progressToken !== undefined) send({ method: "notifications/progress", params: update });
      },
      elicit: (message, requestedSchema) => {
        const question = randomUUID();
        send({ id: question, method: "elicitation/create", params: { message, requestedSchema } });
        return new Promise((resolve) => this.#asked.set(question, resolve));
      },
    });
    send({ id, result: { content: [{ type: "text", text: text ?? "no such tool" }] } });
    response.end();
  }
}
