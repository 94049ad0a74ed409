// Tools of an MCP server: started without a shell, with progress as it happens, and gone when we are.
import { join } from "node:path";
import { McpHub } from "@trackside/host/mcp";
import { Agent } from "trackside";
import { scriptedModel } from "trackside/testing";

await using hub = new McpHub(); // one for a process; it keeps connections between runs

const agent = new Agent({
  name: "editor",
  model: scriptedModel([
    { calls: [{ tool: "mcp__reports__build", args: { pages: 4 } }] },
    "The report has four pages.",
  ]),
  mcpServers: [
    {
      name: "reports",
      command: process.execPath,
      args: [join(import.meta.dirname, "mcp-report-server.ts")],
      exclude: ["shred"], // the model is never offered it
    },
  ],
});

const stream = agent.stream("Build me a report of four pages", { toolServers: hub });
for await (const event of stream) {
  if (event.type === "mcp_progress")
    console.log(`${event.server}: ${event.message}, ${event.progress} of ${event.total}`);
  if (event.type === "tool_result") console.log(event.tool, JSON.stringify(event.output));
}
console.log((await stream.result).output);
