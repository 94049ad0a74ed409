import { join } from "node:path";
import { McpHub } from "../../../src/mcp/index.ts";
import { watched } from "./context.ts";

/**
 * Connects, calls and closes over and over: `node cycles.ts <mark> <cycles> <at once>`. Prints what our process holds
 * before and after, for somebody else to compare.
 */
const [mark = "", cycles = "", width = ""] = process.argv.slice(2);
const program = join(import.meta.dirname, "..", "fakes", "good.ts");
const server = { name: "good", command: process.execPath, args: [program, mark] };

async function cycle(hub: McpHub): Promise<void> {
  const connected = await hub.connect([server], { agent: "agent", scope: { tenant: "t" } });
  const add = connected.tools.find(({ name }) => name === "mcp__good__add");
  if ((await add?.run({ a: 1, b: 2 }, watched().context)) !== "3") throw new Error("it cannot add");
  connected.release();
}

/** Half of the cycles have a hub of their own; the others share one that keeps no connection. */
async function worker(share: McpHub, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    if (i % 2 === 0) {
      await cycle(share);
      continue;
    }
    const own = new McpHub();
    await cycle(own);
    await own.close();
  }
}

async function round(count: number): Promise<void> {
  const share = new McpHub({ keepMs: 0 });
  const at = Number(width);
  await Promise.all(Array.from({ length: at }, () => worker(share, count / at)));
  await share.close();
}

/** What our process holds once all is quiet: a handle that was closed is gone a few turns of the loop later. */
async function held() {
  await new Promise((resolve) => setTimeout(resolve, 500));
  globalThis.gc?.();
  return {
    resources: process.getActiveResourcesInfo().sort(),
    listeners: process.eventNames().map((name) => `${String(name)}: ${process.listenerCount(name)}`),
    heap: process.memoryUsage().heapUsed,
  };
}

await round(Number(width)); // what is loaded or opened once for all
const before = await held();
await round(Number(cycles));
const after = await held();
process.stdout.write(JSON.stringify({ before, after })); // stdout is a handle too, once it is used
