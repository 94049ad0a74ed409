import { appendFileSync } from "node:fs";
import { acceptedContent, inputRequired, McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";

/** A server of the 2026 era, on the official SDK: what it hears of cancellations goes to a file. */
export function modernServer(cancellations: string): McpServer {
  const server = new McpServer({ name: "modern", version: "1.0.0" });
  const text = (words: string) => ({ content: [{ type: "text" as const, text: words }] });

  server.registerTool("add", { inputSchema: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) =>
    text(String(a + b)),
  );

  server.registerTool("steps", {}, async (context) => {
    const progressToken = context.mcpReq._meta?.progressToken;
    for (const progress of [0.25, 1 / 3, 0.5, 1]) {
      if (progressToken === undefined) break;
      const params = { progressToken, progress, total: 1 };
      await context.mcpReq.notify({ method: "notifications/progress", params });
    }
    return text("4 steps");
  });

  server.registerTool("ask", {}, (context) => {
    const city = acceptedContent(context.mcpReq.inputResponses, "city", z.object({ city: z.string() }));
    if (context.mcpReq.inputResponses !== undefined) return text(city?.city ?? "nobody said");
    const requestedSchema = {
      type: "object" as const,
      properties: { city: { type: "string" as const } },
      required: ["city"],
    };
    return inputRequired({
      inputRequests: { city: inputRequired.elicit({ message: "Which city?", requestedSchema }) },
    });
  });

  server.registerTool("until-cancelled", {}, async (context) => {
    const { signal, notify, _meta } = context.mcpReq;
    const heard = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    if (_meta?.progressToken !== undefined) {
      const params = { progressToken: _meta.progressToken, progress: 0.5 };
      await notify({ method: "notifications/progress", params });
    }
    await heard;
    appendFileSync(cancellations, "cancelled\n");
    return text("too late");
  });

  return server;
}
