import { liveHeap, nanosPerRun } from "../measure.ts";
import { DONE, JOBS, tool } from "../workload.ts";
import type { Scenario } from "./scenario.ts";

const PARENTS = 100;
const STEPS = 5;
const MB = 1024 * 1024;
const script = { steps: STEPS, deltas: 0 };

export const children: Scenario = {
  title: "100 parents at once, each with 7 sub-agents of 5 steps",
  contestants: ["bare", "trackside", "pi", "ai-sdk"],
  metrics: [
    { key: "totalMillis", label: "ms in all", digits: 1, ratio: true },
    { key: "heapMB", label: "MB of heap in flight", digits: 1 },
  ],
  async measure({ tree }, budget) {
    if (tree === undefined) throw new Error("it has no sub-agents");
    tool.calls = 0;
    const { text } = await tree(script);
    if (text !== DONE || tool.calls !== JOBS.length * STEPS)
      throw new Error(`a tree answered "${text}" after ${tool.calls} tool calls`);

    const burst = () => Promise.all(Array.from({ length: PARENTS }, () => tree(script)));
    await nanosPerRun(() => tree(script), budget);
    const heapBefore = liveHeap();
    // Reachable heap half-way through, when every sub-agent is under way.
    let inFlight = 0;
    tool.calls = 0;
    tool.onCall = () => {
      if (tool.calls === (PARENTS * JOBS.length * STEPS) / 2) inFlight = liveHeap();
    };
    await burst();
    tool.onCall = undefined;
    const totalMillis = (await nanosPerRun(burst, budget)) / 1e6;
    return { values: { totalMillis, heapMB: (inFlight - heapBefore) / MB } };
  },
};
