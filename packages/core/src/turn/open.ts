import type { PinnedAgent } from "../schema/agent.ts";
import type { TurnStart, TurnState } from "../schema/turn-state.ts";
import { cancel, fail } from "./state.ts";
import type { World } from "./world.ts";

/** START comes before the user's message is logged, so that it may refuse or change it (R2). */
export async function open(
  agent: PinnedAgent,
  turn: TurnStart,
  world: World,
  state: TurnState,
): Promise<void> {
  world.note({ type: "status", status: "starting" });
  state.phase = "stepping";
  if (agent.points.includes("START")) {
    const out = await world.dispatch("start", { point: "START", step: 0 });
    if (out.cancelled !== undefined) return cancel(state, out.cancelled);
    if (out.fatal) return fail(state, out.fatal);
  }
  world.note({ type: "logged", message_ids: [turn.message_id] });
  state.log += 1;
}
