import type { ChildInput, ChildOut } from "../../turn/world.ts";
import type { Effect } from "../effect.ts";
import type { RunContext } from "../run-context.ts";

/** Runs a sub-agent to its end. How is the engine's affair. */
export function runChild(run: RunContext, input: ChildInput, effect: Effect): Promise<ChildOut> {
  run.enter(input.agent);
  return run.parts.children.run(run, input, effect);
}
