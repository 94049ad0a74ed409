/** What one would write by hand: a step is a call of a model and a call of a tool, and nothing else. */
import { proxyActivities } from "@temporalio/workflow";

interface Activities {
  model(step: number): Promise<number>;
  tool(step: number): Promise<number>;
}

const { model, tool } = proxyActivities<Activities>({ startToCloseTimeout: "1 minute" });

export async function loop(steps: number): Promise<void> {
  for (let step = 0; step < steps; step++) {
    await model(step);
    await tool(step);
  }
}
