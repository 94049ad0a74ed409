import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, defineRail, defineTool, type Engine, localEngine, type Tool } from "trackside";
import { scriptedModel } from "trackside/testing";
import { sqlite, Trackside } from "../../../src/index.ts";
import { rows, type Store } from "../../../src/store/store.ts";

// Prints by how many bytes memory has grown over a run with a result of 10 MB: what is kept of it, and how much it was at
// the most, beside the objects that the tool itself made. Run with --expose-gc, the name of an engine and that of a tool.

const SIZE = 10_000_000;

/** How much memory there was when the tool had made its result, where that takes more than its text. */
let takenByTool = 0;

/** Objects as a tool gets them from elsewhere: read from JSON. What was needed to make them is gone. */
function records(text: string): unknown {
  const rows = Array.from({ length: SIZE / 100 }, (_, id) => ({ id, text }));
  const made: unknown = JSON.parse(JSON.stringify(rows));
  globalThis.gc?.();
  takenByTool = process.memoryUsage.rss();
  forgetTheMost();
  return made;
}

/** Of this program alone: what `maxRSS` tells begins with the memory of the process that started it. */
function mostSoFar(): number {
  const [, kB] = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  if (kB === undefined) throw new Error("the system does not tell how much memory a process has had");
  return Number(kB) * 1024;
}

/** From here on. */
function forgetTheMost(): void {
  writeFileSync("/proc/self/clear_refs", "5");
}

/** Each result is made when the tool runs: what it takes counts. */
const tools: readonly Tool[] = [
  defineTool({ name: "small", effect: "none", execute: () => "small" }),
  defineTool({
    name: "text",
    effect: "none",
    execute: () => "a line of text\n".repeat(SIZE / 15),
  }),
  // One character beyond Latin-1, and all of a text takes two bytes each.
  defineTool({
    name: "wide_text",
    effect: "none",
    execute: () => `${"a line of text\n".repeat(SIZE / 15)}…`,
  }),
  defineTool({ name: "json", effect: "none", execute: () => records("x".repeat(80)) }),
  defineTool({ name: "wide_json", effect: "none", execute: () => records(`${"x".repeat(79)}…`) }),
  defineTool({ name: "once", execute: () => "another line\n".repeat(SIZE / 13) }),
];
const rails = [defineRail({ name: "looks", on: ["POST_TOOL_CALL"] }, () => undefined)];

/** What is held after everything that can go is gone. */
async function held(): Promise<number> {
  for (let i = 0; i < 5; i++) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Until the thread is up that shows others that this process is alive: it takes memory of its own, once. */
async function pulse(store: Store): Promise<void> {
  const read = () => store.read((db) => rows(db.selectFrom("processes").select("expires_at")));
  const [first] = await read();
  for (let now = first; now?.expires_at === first?.expires_at; [now] = await read())
    await new Promise((resolve) => setTimeout(resolve, 20));
}

async function measure(
  engine: Engine,
  tool: string,
  settled?: () => Promise<void>,
): Promise<{ kept: number; peak: number }> {
  const agentOf = (script: Parameters<typeof scriptedModel>[0], name: string) =>
    new Agent({ name, model: scriptedModel(script), tools, rails: tool === "once" ? rails : [] });
  await agentOf([{ calls: [{ tool: "small" }] }, "done"], "warm").run("go", { engine });
  await settled?.();
  const before = await held();
  forgetTheMost();
  const rss = process.memoryUsage.rss();
  const { messages, conversation } = await agentOf([{ calls: [{ tool }] }, "done"], "large").run("go", {
    engine,
  });
  const peak = mostSoFar() - Math.max(rss, takenByTool);
  const kept = (await held()) - before;
  if (!JSON.stringify([messages, conversation.id]).includes('offloaded_artifact_id":"art_'))
    throw new Error("the result was not put away");
  return { kept, peak };
}

const [, , engine, tool = ""] = process.argv;
const dir = mkdtempSync(join(tmpdir(), "trackside-memory-"));
try {
  if (engine === "local") console.log(JSON.stringify(await measure(localEngine(), tool)));
  else {
    const store = sqlite(join(dir, "trackside.db"), { sync: "normal" });
    const trackside = new Trackside({ store, agents: [] });
    console.log(JSON.stringify(await measure(trackside.engine, tool, () => pulse(store))));
    await trackside.close();
  }
} finally {
  rmSync(dir, { recursive: true, force: true });
}
