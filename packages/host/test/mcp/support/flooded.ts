import { join } from "node:path";
import { McpHub } from "../../../src/mcp/index.ts";
import { watched } from "./context.ts";

/**
 * Calls tools that flood us, in a process of its own so that its memory is its own: `node flooded.ts <mark> <fake>
 * <tools>`. Prints by how much it grew at most, and how the calls ended.
 */
const [mark = "", fake = "", ...names] = process.argv.slice(2);
const hub = new McpHub({ deadlines: { idleMs: 5_000, totalMs: 5_000 }, maxMessageBytes: 4 << 20 });
const program = join(import.meta.dirname, "..", "fakes", `${fake}.ts`);
const server = { name: "flood", command: process.execPath, args: [program, mark] };
const { tools } = await hub.connect([server], { agent: "agent", scope: { tenant: "t" } });

globalThis.gc?.();
const start = process.memoryUsage.rss();
let most = start;
const sampling = setInterval(() => {
  most = Math.max(most, process.memoryUsage.rss());
}, 10);
const ended: string[] = [];
for (const name of names) {
  const tool = tools.find((each) => each.name === `mcp__flood__${name}`);
  try {
    ended.push(`answered: ${JSON.stringify(await tool?.run({}, watched().context))?.slice(0, 100)}`);
  } catch (error) {
    ended.push(String(error));
  }
}
clearInterval(sampling);
await hub.close();
process.stdout.write(JSON.stringify({ grownBy: most - start, ended }));
