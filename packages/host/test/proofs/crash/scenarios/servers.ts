import { Agent } from "trackside";
import type { Scenario } from "../../support/scenario.ts";

/** Tools of MCP servers, which every process connects to anew. */
export const SERVERS: readonly Scenario[] = [
  {
    name: "tools of a server",
    agent: (stage) =>
      new Agent({
        name: "served",
        model: stage.model(
          { calls: [{ tool: "mcp__bank__pay", args: { n: 1 } }] },
          { calls: [{ tool: "mcp__bank__pay", args: { n: 2 } }] },
          "done",
        ),
        mcpServers: [{ name: "bank", url: "https://bank.example/mcp" }],
      }),
    servers: (stage) => stage.servers(stage.tool("pay", "once", { takesMs: 10 })),
  },
];
