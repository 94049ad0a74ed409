/** One contestant, one scenario, one process: measures and sends the result to the parent. */
import type { Budget } from "./measure.ts";
import { scenarios } from "./scenarios/index.ts";
import { type Contestant, DONE, tool } from "./workload.ts";

const [contestantName = "", scenarioName = "", budgetJson = "", chosenWay = ""] = process.argv.slice(2);
const budget: Budget = JSON.parse(budgetJson);

try {
  const contestant: Contestant = (await import(`./contestants/${contestantName}.ts`)).default;
  await check(contestant);
  // The first process of a scenario chose the fastest way; those after it take the same.
  contestant.run = only(chosenWay, contestant.run);
  contestant.stream = only(chosenWay, contestant.stream);
  if (contestant.durable !== undefined) contestant.durable = only(chosenWay, contestant.durable);
  const scenario = scenarios[scenarioName];
  if (scenario === undefined) throw new Error(`no scenario ${scenarioName}`);
  process.send?.({ ok: await scenario.measure(contestant, budget) });
} catch (error) {
  process.send?.({ failed: error instanceof Error ? error.message : String(error) });
}
process.disconnect?.();

/** A contestant that skips the work would win: every way to run must call the tool and give the answer. */
async function check({ run }: Contestant): Promise<void> {
  for (const [name, way] of Object.entries(run)) {
    tool.calls = 0;
    const { text } = await way({ steps: 3, deltas: 0 });
    if (text !== DONE || tool.calls !== 3)
      throw new Error(
        `${contestantName}, ${name}: answered "${text}" after ${tool.calls} tool calls, expected "${DONE}" after 3`,
      );
  }
}

function only<T>(name: string, ways: Record<string, T>): Record<string, T> {
  const way = ways[name];
  return way === undefined ? ways : { [name]: way };
}
