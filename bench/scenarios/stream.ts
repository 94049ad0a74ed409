import { fastest, median, nanosPerRun } from "../measure.ts";
import type { Scenario } from "./scenario.ts";

const DELTAS = 20_000;
const FIRST_DELTA_RUNS = 200;

export const stream: Scenario = {
  title: "20,000 streamed deltas",
  metrics: [
    { key: "deltaMicros", label: "µs per delta", digits: 2, ratio: true },
    { key: "firstDeltaMillis", label: "ms to the first delta", digits: 3, ratio: true },
  ],
  async measure(contestant, budget) {
    const script = { steps: 0, deltas: DELTAS };
    const { name, way } = await fastest(contestant.stream, (stream) => stream(script, () => {}), budget);

    let seen = 0;
    await way(script, () => seen++);
    if (seen !== DELTAS) throw new Error(`${name ?? "stream"} delivered ${seen} of ${DELTAS} deltas`);
    const deltaMicros = (await nanosPerRun(() => way(script, () => {}), budget)) / DELTAS / 1e3;

    const firsts: number[] = [];
    for (let i = 0; i < FIRST_DELTA_RUNS; i++) {
      const start = performance.now();
      let first = 0;
      await way({ steps: 0, deltas: 20 }, () => {
        if (first === 0) first = performance.now() - start;
      });
      firsts.push(first);
    }
    return { values: { deltaMicros, firstDeltaMillis: median(firsts) }, way: name };
  },
};
