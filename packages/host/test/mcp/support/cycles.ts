import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ServerDefinition } from "trackside/engine";
import { McpHub } from "../../../src/mcp/index.ts";
import { httpFake } from "../fakes/http.ts";
import { watched } from "./context.ts";

/**
 * Connects, calls and closes over and over: `node cycles.ts <stdio or http> <mark> <cycles> <at once>`. Prints what our
 * process holds before and after, for somebody else to compare.
 */
const [transport = "", mark = "", cycles = "", width = ""] = process.argv.slice(2);
const program = join(import.meta.dirname, "..", "fakes", "good.ts");
const site = transport === "http" ? await httpFake() : undefined;
const server: ServerDefinition =
  site === undefined
    ? { name: "good", command: process.execPath, args: [program, mark] }
    : { name: "good", url: site.url };

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

/** What keeps our process alive, as at the start; handles, and connections kept for the next request, go by and by. */
const atStart = resources();
function resources(): string {
  return process.getActiveResourcesInfo().toSorted().join();
}

/** What our process holds once it holds no handle that it did not hold at the start. */
async function held() {
  const end = performance.now() + 60_000;
  while (resources() !== atStart && performance.now() < end) await sleep(50);
  globalThis.gc?.();
  return {
    resources: resources(),
    listeners: process.eventNames().map((name) => `${String(name)}: ${process.listenerCount(name)}`),
    heap: process.memoryUsage().heapUsed,
  };
}

await round(Number(width)); // what is loaded or opened once for all
const before = await held();
await round(Number(cycles));
const after = await held();
process.stdout.write(JSON.stringify({ atStart, before, after })); // stdout is a handle too, once it is used
await site?.close();
