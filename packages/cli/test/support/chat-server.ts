import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface ChatServer {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  /** Bodies of the chat requests so far. */
  readonly requests: { model: string; messages: { role: string; content: unknown }[]; tools?: unknown[] }[];
  close(): void;
}

type Delta = Record<string, unknown>;

/**
 * A server that speaks as Ollama does: lists one model, and answers each chat request with the next deltas. Each test names
 * another model, because the engine that all commands in this process share keeps a model it has loaded.
 */
export async function startChatServer(
  model: string,
  answers: readonly (readonly Delta[])[],
): Promise<ChatServer> {
  const requests: ChatServer["requests"] = [];
  const server = createServer(async (request, response) => {
    if (request.url?.endsWith("/models")) {
      response.end(JSON.stringify({ object: "list", data: [{ id: model, object: "model" }] }));
      return;
    }
    let body = "";
    for await (const chunk of request) body += chunk;
    requests.push(JSON.parse(body));
    const deltas = answers[requests.length - 1] ?? [{ content: "Nothing left to say." }];
    const calls = deltas.some((delta) => "tool_calls" in delta);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (fields: object) => {
      const chunk = { id: "chat-1", object: "chat.completion.chunk", created: 1, model, ...fields };
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    };
    for (const delta of deltas) send({ choices: [{ index: 0, delta, finish_reason: null }] });
    send({ choices: [{ index: 0, delta: {}, finish_reason: calls ? "tool_calls" : "stop" }] });
    send({ choices: [], usage: { prompt_tokens: 21, completion_tokens: 8, total_tokens: 29 } });
    response.end("data: [DONE]\n\n");
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo; // a string only for pipes
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

export function toolCall(name: string, args: object): Delta {
  const call = {
    index: 0,
    id: "call_1",
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  };
  return { tool_calls: [call] };
}
