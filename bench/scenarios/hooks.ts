import { nanosPerRunOfEach } from "../measure.ts";
import type { Contestant } from "../workload.ts";
import type { Scenario } from "./scenario.ts";

const HOOKS = 10;
const script = { steps: 50, deltas: 0 };

export const hooks: Scenario = observing(
  "10 no-op async hooks at each point of the lifecycle",
  "hook",
  ({ hooked }) => hooked,
);

/** Only Trackside has these: hooks that may decide, with a priority, a bound on their time and a record. */
export const rails: Scenario = observing(
  "10 no-op async rails at each point of the lifecycle",
  "rail",
  ({ railed }) => railed,
);

function observing(
  title: string,
  what: string,
  made: (contestant: Contestant) => Contestant["hooked"],
): Scenario {
  return {
    title,
    metrics: [
      { key: `${what}Nanos`, label: `ns per ${what}`, digits: 0 },
      { key: `${what}sPerStep`, label: `${what}s called per step`, digits: 1 },
      { key: "slowdown", label: `run with ${what}s against without`, digits: 2 },
    ],
    async measure(contestant, budget) {
      const runner = made(contestant);
      if (runner === undefined)
        return { values: { [`${what}Nanos`]: null, [`${what}sPerStep`]: null, slowdown: null } };
      let called = 0;
      await runner(HOOKS, async () => {
        called++;
      })(script);
      const without = runner(0, async () => {});
      const withThem = runner(HOOKS, async () => {});
      const runs = [() => without(script), () => withThem(script)];
      const [base = Number.NaN, loaded = Number.NaN] = await nanosPerRunOfEach(runs, budget);
      return {
        values: {
          [`${what}Nanos`]: (loaded - base) / called,
          [`${what}sPerStep`]: called / script.steps,
          slowdown: loaded / base,
        },
      };
    },
  };
}
