import { fastest, type Measured, nanosPerRunOfEach } from "../measure.ts";
import type { Scenario } from "./scenario.ts";

const SIZES = [10, 50, 200, 500];

export const growth: Scenario = {
  title: "Growth: time per step in runs of 10 to 500 steps",
  metrics: [
    ...SIZES.map((steps) => ({ key: `at${steps}`, label: `µs per step at ${steps}`, digits: 1 })),
    { key: "ratio", label: "500 against 10", digits: 2 },
  ],
  async measure(contestant, budget) {
    const { name, way: run } = await fastest(contestant.run, (way) => way({ steps: 50, deltas: 0 }), budget);
    const nanos = await nanosPerRunOfEach(
      SIZES.map((steps) => () => run({ steps, deltas: 0 })),
      budget,
    );
    const values: Measured = {};
    for (const [i, steps] of SIZES.entries()) values[`at${steps}`] = (nanos[i] ?? Number.NaN) / steps / 1e3;
    values.ratio = (values.at500 ?? Number.NaN) / (values.at10 ?? Number.NaN);
    return { values, way: name };
  },
};
