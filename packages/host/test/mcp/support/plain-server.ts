// A server of the older era, written by hand: a message a line. Its behaviour comes as JSON in the first argument.
import { createInterface } from "node:readline";

interface Message {
  id?: number | string;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
}

const tools = [
  {
    name: "echo",
    description: "Says it again",
    inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    annotations: { readOnlyHint: true },
  },
  { name: "slow", description: "Never answers", inputSchema: { type: "object" } },
];
const send = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line) as Message;
  if (id === undefined || method === undefined) return;
  if (method === "initialize") {
    const result = {
      protocolVersion: params?.["protocolVersion"],
      capabilities: { tools: {} },
      serverInfo: { name: "plain", version: "1" },
    };
    send({ id, result });
  } else if (method === "tools/list") send({ id, result: { tools } });
  else if (method === "tools/call" && params?.["name"] === "echo") {
    const text = String((params["arguments"] as { text?: unknown }).text);
    send({ id, result: { content: [{ type: "text", text }] } });
  } else if (method !== "tools/call") send({ id, error: { code: -32601, message: "Method not found" } });
});
