import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Budget, median, nanosPerRunOfEach } from "../measure.ts";
import { type Contestant, type Disk, type Durable, tool } from "../workload.ts";
import type { Scenario } from "./scenario.ts";

const NODES = 50;
const SHORT = 10;
const RUNS = 1000;
const BURSTS = 3;

/**
 * What a workflow's node costs beside a step of an agent that calls the same tool, whose model answers at once; and 1,000
 * runs of ten nodes beside a hand-written durable loop of ten steps. In turns in one process, so that the ratios stand.
 */
export const workflow: Scenario = {
  title: "Workflows: a node beside a step, and 1,000 concurrent runs of 10 nodes on SQLite",
  contestants: ["trackside"],
  metrics: [
    { key: "nodeMicros", label: "µs per node", digits: 1 },
    { key: "nodeTimes", label: "times an agent's step", digits: 2 },
    { key: "durableNodeTimes", label: "the same, durable", digits: 2 },
    { key: "totalMillis", label: "ms for 1,000 durable runs", digits: 0 },
    { key: "totalTimes", label: "times the hand-written loop beside it", digits: 2 },
    { key: "fullTimes", label: "the same, full sync", digits: 2 },
  ],
  async measure(contestant, budget) {
    const { chain, durableChain } = await import("../contestants/trackside-workflow.ts");
    const script = { steps: NODES, deltas: 0 };
    const agent = contestant.run["run"];
    if (agent === undefined) throw new Error("there is no agent to compare with");
    const one = chain(NODES);
    tool.calls = 0;
    await one();
    if (tool.calls !== NODES) throw new Error(`the tool was called ${tool.calls} times`);
    const [node = Number.NaN, step = Number.NaN] = await nanosPerRunOfEach(
      [one, () => agent(script)],
      budget,
    );
    const durable = await beside(contestant.durable?.["run"], durableChain(NODES), (made, base) =>
      nanosPerRunOfEach([() => made.run(script), () => base.run(script)], patient(budget)),
    );
    const [loop, ten] = [await handWritten(), durableChain(SHORT)];
    const normal = await beside(loop, ten, bursts, "normal");
    const full = await beside(loop, ten, bursts, "full");
    return {
      values: {
        nodeMicros: node / NODES / 1e3,
        nodeTimes: node / step,
        durableNodeTimes: ratio(durable),
        totalMillis: normal[0] ?? Number.NaN,
        totalTimes: ratio(normal),
        fullTimes: ratio(full),
      },
    };
  },
};

function patient({ warmMs, measureMs }: Budget): Budget {
  return { warmMs: warmMs * 2, measureMs: measureMs * 4 };
}

function ratio([ours = Number.NaN, base = Number.NaN]: readonly number[]): number {
  return ours / base;
}

async function bursts(made: Durable, base: Durable): Promise<number[]> {
  const script = { steps: SHORT, deltas: 0 };
  const burst = async (one: Durable) => {
    const start = performance.now();
    await Promise.all(Array.from({ length: RUNS }, () => one.run(script)));
    return performance.now() - start;
  };
  await burst(made);
  await burst(base);
  const took: { ours: number; base: number }[] = [];
  for (let i = 0; i < BURSTS; i++) took.push({ ours: await burst(made), base: await burst(base) });
  return [median(took.map(({ ours }) => ours)), median(took.map((one) => one.base))];
}

type Open = (disk: Disk) => Promise<Durable>;

/** Both with a database of their own. */
async function beside<T>(
  base: Open | undefined,
  ours: Open,
  use: (made: Durable, base: Durable) => Promise<T>,
  sync: Disk["sync"] = "normal",
): Promise<T> {
  if (base === undefined) throw new Error("there is nothing to compare with");
  const folder = mkdtempSync(join(tmpdir(), "trackside-bench-"));
  const made = await ours({ path: join(folder, "ours.db"), sync });
  const other = await base({ path: join(folder, "base.db"), sync });
  try {
    return await use(made, other);
  } finally {
    await made.close();
    await other.close();
    rmSync(folder, { recursive: true });
  }
}

async function handWritten(): Promise<Open | undefined> {
  const { default: bare }: { default: Contestant } = await import("../contestants/bare.ts");
  return bare.durable?.["loop"];
}
