import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Budget, fastest, median, nanosPerRunOfEach } from "../measure.ts";
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

/** Long enough that each batch carries its share of moving the log into the database, which comes every 50 ms or so. */
function patient({ warmMs, measureMs }: Budget): Budget {
  return { warmMs: warmMs * 2, measureMs: measureMs * 4 };
}

/** In turns with the hand-written loop in the same process: a busy disk then slows both, and the ratio stands. */
const BESIDE = "times the hand-written loop beside it";

export const durableSteps: Scenario = {
  title: "50 durable steps on SQLite",
  contestants: ["bare", "trackside", "langgraph", "mastra"],
  metrics: [
    { key: "stepMicros", label: "µs per step", digits: 0 },
    { key: "stepTimes", label: BESIDE, digits: 1 },
    { key: "onceTimes", label: "a tool that must not run twice", digits: 1 },
    { key: "fullMicros", label: "µs per step, full sync", digits: 0 },
    { key: "fullTimes", label: BESIDE, digits: 1 },
  ],
  async measure(contestant, budget) {
    const { name, way } = await chosen(contestant, budget);
    const loop = await handWritten();
    const measured = async (open: Open, sync: Disk["sync"]) =>
      onDisk(loop, sync, (bare) =>
        onDisk(open, sync, async (made) => {
          const runs = [() => bare.run(long), () => made.run(long)];
          const [base = Number.NaN, ours = Number.NaN] = await nanosPerRunOfEach(runs, patient(budget));
          return { micros: ours / STEPS / 1e3, times: ours / base };
        }),
      );
    const normal = await measured(way, "normal");
    const once = contestant.once === undefined ? null : await measured(contestant.once, "normal");
    const full = await measured(way, "full");
    return {
      values: {
        stepMicros: normal.micros,
        stepTimes: normal.times,
        onceTimes: once?.times ?? null,
        fullMicros: full.micros,
        fullTimes: full.times,
      },
      way: name,
    };
  },
};

export const durableConcurrent: Scenario = {
  title: "1,000 concurrent durable runs of 5 steps on SQLite",
  // Mastra's durable agents take minutes for them.
  contestants: ["bare", "trackside", "langgraph"],
  metrics: [
    { key: "totalMillis", label: "ms in all", digits: 0 },
    { key: "totalTimes", label: BESIDE, digits: 1 },
    { key: "fullMillis", label: "ms in all, full sync", digits: 0 },
    { key: "fullTimes", label: BESIDE, digits: 1 },
  ],
  async measure(contestant, budget) {
    const { name, way } = await chosen(contestant, budget);
    const loop = await handWritten();
    const measured = (sync: Disk["sync"]) =>
      onDisk(loop, sync, (bare) =>
        onDisk(way, sync, async (made) => {
          await nanosPerRunOfEach([() => bare.run(short), () => made.run(short)], budget);
          const bursts: { base: number; ours: number }[] = [];
          const end = performance.now() + BURSTS_MS;
          for (let i = 0; i < BURSTS && (i === 0 || performance.now() < end); i++)
            bursts.push({ base: await burst(bare), ours: await burst(made) });
          const ours = median(bursts.map((each) => each.ours));
          return { millis: ours, times: ours / median(bursts.map(({ base }) => base)) };
        }),
      );
    const normal = await measured("normal");
    const full = await measured("full");
    return {
      values: {
        totalMillis: normal.millis,
        totalTimes: normal.times,
        fullMillis: full.millis,
        fullTimes: full.times,
      },
      way: name,
    };
  },
};

async function burst(made: Durable): Promise<number> {
  const start = performance.now();
  await Promise.all(Array.from({ length: RUNS }, () => made.run(short)));
  return performance.now() - start;
}

/** Loaded where it is needed: the process that only prints tables has no use for a database. */
async function handWritten(): Promise<Open> {
  const { default: bare }: { default: Contestant } = await import("../contestants/bare.ts");
  const loop = bare.durable?.["loop"];
  if (loop === undefined) throw new Error("bare has no durable loop");
  return loop;
}

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
