import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Budget, fastest, median, nanosPerRun } from "../measure.ts";
import { type Contestant, type Disk, DONE, type Durable, tool } from "../workload.ts";
import type { Scenario } from "./scenario.ts";

const STEPS = 50;
const long = { steps: STEPS, deltas: 0 };
const short = { steps: 5, deltas: 0 };
const RUNS = 1000;
const BURSTS = 3;
/** Enough of them, for one that is slow. */
const BURSTS_MS = 10_000;

type Open = (disk: Disk) => Promise<Durable>;

export const durableSteps: Scenario = {
  title: "50 durable steps on SQLite",
  contestants: ["bare", "trackside", "langgraph", "mastra"],
  metrics: [
    { key: "stepMicros", label: "µs per step", digits: 0, ratio: true },
    { key: "onceMicros", label: "µs per step, a tool that must not run twice", digits: 0 },
    { key: "fullMicros", label: "µs per step, full sync", digits: 0, ratio: true },
  ],
  async measure(contestant, budget) {
    const { name, way } = await chosen(contestant, budget);
    const micros = async (open: Open, sync: Disk["sync"]) =>
      (await onDisk(open, sync, (made) => nanosPerRun(() => made.run(long), budget))) / STEPS / 1e3;
    const stepMicros = await micros(way, "normal");
    const onceMicros = contestant.once === undefined ? null : await micros(contestant.once, "normal");
    const fullMicros = await micros(way, "full");
    return { values: { stepMicros, onceMicros, fullMicros }, way: name };
  },
};

export const durableConcurrent: Scenario = {
  title: "1,000 concurrent durable runs of 5 steps on SQLite",
  // Mastra's durable agents take minutes for them.
  contestants: ["bare", "trackside", "langgraph"],
  metrics: [
    { key: "totalMillis", label: "ms in all", digits: 0, ratio: true },
    { key: "fullMillis", label: "ms in all, full sync", digits: 0, ratio: true },
  ],
  async measure(contestant, budget) {
    const { name, way } = await chosen(contestant, budget);
    const millis = (sync: Disk["sync"]) =>
      onDisk(way, sync, async (made) => {
        await nanosPerRun(() => made.run(short), budget);
        const bursts: number[] = [];
        const end = performance.now() + BURSTS_MS;
        for (let i = 0; i < BURSTS && (i === 0 || performance.now() < end); i++) {
          const start = performance.now();
          await Promise.all(Array.from({ length: RUNS }, () => made.run(short)));
          bursts.push(performance.now() - start);
        }
        return median(bursts);
      });
    return { values: { totalMillis: await millis("normal"), fullMillis: await millis("full") }, way: name };
  },
};

/** The fastest of a contestant's ways that does the work. */
async function chosen({ durable = {} }: Contestant, budget: Budget): Promise<{ name?: string; way: Open }> {
  for (const [name, way] of Object.entries(durable))
    await onDisk(way, "normal", async (made) => {
      tool.calls = 0;
      const text = await made.run(short);
      if (text !== DONE || tool.calls !== short.steps)
        throw new Error(`${name}: answered "${text}" after ${tool.calls} tool calls`);
    });
  const found = await fastest(durable, (way) => onDisk(way, "normal", (made) => made.run(short)), {
    warmMs: budget.warmMs / 2,
    measureMs: budget.measureMs / 2,
  });
  return found.name === undefined ? { way: found.way } : { name: found.name, way: found.way };
}

/** With a database of its own, in the system's directory for temporary files: set TMPDIR to measure another disk. */
async function onDisk<T>(open: Open, sync: Disk["sync"], use: (made: Durable) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "trackside-bench-"));
  const made = await open({ path: join(folder, "bench.db"), sync });
  try {
    return await use(made);
  } finally {
    await made.close();
    rmSync(folder, { recursive: true });
  }
}
