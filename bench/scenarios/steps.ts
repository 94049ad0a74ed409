import { fastest, liveHeap, nanosPerRun } from "../measure.ts";
import type { Scenario } from "./scenario.ts";

const STEPS = 50;
const HELD_RUNS = 20;
const script = { steps: STEPS, deltas: 0 };

export const steps: Scenario = {
  title: "50 tool-calling steps",
  metrics: [
    { key: "stepMicros", label: "µs per step", digits: 1, ratio: true },
    { key: "heapKiB", label: "KiB kept per step", digits: 1 },
  ],
  async measure(contestant, budget) {
    const { name, way: run } = await fastest(contestant.run, (way) => way(script), budget);
    const stepMicros = (await nanosPerRun(() => run(script), budget)) / STEPS / 1e3;

    const held: unknown[] = [];
    const before = liveHeap();
    for (let i = 0; i < HELD_RUNS; i++) held.push(await run(script));
    const heapKiB = (liveHeap() - before) / held.length / STEPS / 1024;
    return { values: { stepMicros, heapKiB }, way: name };
  },
};
