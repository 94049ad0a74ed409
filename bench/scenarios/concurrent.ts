import { fastest, liveHeap, nanosPerRun } from "../measure.ts";
import { tool } from "../workload.ts";
import type { Scenario } from "./scenario.ts";

const RUNS = 1000;
const STEPS = 5;
const MB = 1024 * 1024;
const script = { steps: STEPS, deltas: 0 };

export const concurrent: Scenario = {
  title: "1,000 concurrent runs of 5 steps",
  metrics: [
    { key: "totalMillis", label: "ms in all", digits: 1, ratio: true },
    { key: "heapMB", label: "MB of heap in flight", digits: 1 },
    { key: "rssMB", label: "MB of memory grown", digits: 1 },
  ],
  async measure(contestant, budget) {
    const { name, way: run } = await fastest(contestant.run, (way) => way(script), budget);
    const burst = () => Promise.all(Array.from({ length: RUNS }, () => run(script)));

    // How much a young process takes from the system for its first burst. One that has already run has it.
    const rssBefore = process.memoryUsage.rss();
    await burst();
    const rssMB = name === undefined ? (process.memoryUsage.rss() - rssBefore) / MB : null;

    await nanosPerRun(() => run(script), budget);
    const heapBefore = liveHeap();
    // Reachable heap half-way through, when every run is under way.
    let inFlight = 0;
    tool.calls = 0;
    tool.onCall = () => {
      if (tool.calls === (RUNS * STEPS) / 2) inFlight = liveHeap();
    };
    const held = await burst();
    tool.onCall = undefined;
    const heapMB = Math.max(inFlight, held.length === RUNS ? liveHeap() : 0) - heapBefore;

    const totalMillis = (await nanosPerRun(burst, budget)) / 1e6;
    return { values: { totalMillis, heapMB: heapMB / MB, rssMB }, way: name };
  },
};
