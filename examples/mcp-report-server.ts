// An MCP server over stdio, on the official SDK: what 17-mcp.ts starts and talks to.
import { setTimeout as wait } from "node:timers/promises";
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import * as z from "zod";

serveStdio(() => {
  const server = new McpServer({ name: "reports", version: "1.0.0" });
  server.registerTool(
    "build",
    { description: "Builds a report, page by page", inputSchema: z.object({ pages: z.number().int() }) },
    async ({ pages }, { mcpReq: { notify, signal, _meta } }) => {
      for (let page = 1; page <= pages && !signal.aborted; page++) {
        await wait(20);
        const { progressToken } = _meta ?? {};
        if (progressToken === undefined) continue; // nobody wants to know
        const params = { progressToken, progress: page, total: pages, message: `page ${page}` };
        await notify({ method: "notifications/progress", params });
      }
      return { content: [{ type: "text", text: `A report of ${pages} pages.` }] };
    },
  );
  server.registerTool("shred", { description: "Destroys all reports" }, () => ({
    content: [{ type: "text", text: "Gone." }],
  }));
  return server;
});
