import type { Prefix } from "../schema/durable-events.ts";
import type { TurnState } from "../schema/turn-state.ts";
import type { Usage } from "../schema/usage.ts";
import { addUsage } from "./state.ts";
import type { World } from "./world.ts";

/** Adds what was used to the run's total, and says so. */
export function charge(world: World, state: TurnState, model: string, call: Usage, prefix?: Prefix): void {
  state.usage = addUsage(state.usage, call);
  const { step, usage: total } = state;
  if (prefix === undefined) world.note({ type: "usage", step, model, call, total });
  else world.note({ type: "usage", step, model, call, total, prefix });
}
