import { nanosPerRunOfEach } from "../measure.ts";
import type { Scenario } from "./scenario.ts";

const HOOKS = 10;
const script = { steps: 50, deltas: 0 };

export const hooks: Scenario = {
  title: "10 no-op async hooks at each point of the lifecycle",
  metrics: [
    { key: "hookNanos", label: "ns per hook", digits: 0 },
    { key: "hooksPerStep", label: "hooks called per step", digits: 1 },
    { key: "slowdown", label: "run with hooks against without", digits: 2 },
  ],
  async measure({ hooked }, budget) {
    if (hooked === undefined) return { values: { hookNanos: null, hooksPerStep: null, slowdown: null } };

    let called = 0;
    await hooked(HOOKS, async () => {
      called++;
    })(script);
    const without = hooked(0, async () => {});
    const withHooks = hooked(HOOKS, async () => {});
    const [base = Number.NaN, loaded = Number.NaN] = await nanosPerRunOfEach(
      [() => without(script), () => withHooks(script)],
      budget,
    );
    return {
      values: {
        hookNanos: (loaded - base) / called,
        hooksPerStep: called / script.steps,
        slowdown: loaded / base,
      },
    };
  },
};
