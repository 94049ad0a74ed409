/** An MCP server over stdio whose one tool goes as far as a file says, so that a test sees each step of its progress. */
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { notify, serve, stateFile, text, tool } from "../../host/test/mcp/fakes/wire.ts";

const STEPS = ["warming up", "first half", "second half", "writing it down"];

const allowed = () => (existsSync(stateFile) ? Number(readFileSync(stateFile, "utf8")) : 0);

serve({
  tools: [tool("measure")],
  calls: {
    measure: async (_, { progressToken }) => {
      for (const [at, message] of STEPS.entries()) {
        while (allowed() <= at) await sleep(20);
        notify("notifications/progress", { progressToken, progress: at + 1, total: STEPS.length, message });
      }
      while (allowed() <= STEPS.length) await sleep(20);
      return text("measured ".repeat(6_000)); // more than a message holds: it becomes an artifact
    },
  },
});
