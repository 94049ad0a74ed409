import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { Hono } from "hono";
import type { ProtocolContext, ProtocolEnv } from "../env.ts";
import { describeAgent, findAgent } from "../shared/agents.ts";
import { readJsonObject } from "../shared/body.ts";
import { refusalOf } from "../shared/refusal.ts";
import { callAgent, toolInput, toolOutput } from "./agent-tool.ts";
import { toolNames } from "./tool-names.ts";

/** An MCP server over Streamable HTTP, of both protocol eras and without sessions: each agent is a tool. */
export function mcpRoutes(): Hono<ProtocolEnv> {
  const app = new Hono<ProtocolEnv>();
  app.onError((error) => {
    const { status, message } = refusalOf(error);
    const code = status >= 500 ? -32603 : -32600;
    return Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status });
  });
  app.all("/mcp", async (c) => {
    const handler = createMcpHandler(() => serverFor(c));
    if (c.req.method !== "POST") return handler.fetch(c.req.raw);
    return handler.fetch(c.req.raw, { parsedBody: await readJsonObject(c.req.raw) });
  });
  return app;
}

function serverFor(c: ProtocolContext): McpServer {
  const trackside = c.get("trackside");
  const server = new McpServer({ name: "trackside", title: "Trackside", version: "0.1.0" });
  for (const [name, agent] of toolNames(trackside.engine.registry.names)) {
    const description = describeAgent(findAgent(trackside, agent));
    const about = { title: agent, description, inputSchema: toolInput, outputSchema: toolOutput };
    server.registerTool(name, about, (input, context) => callAgent(c, agent, input, context));
  }
  return server;
}
