import type { PinnedAgent } from "../schema/agent.ts";
import type { TurnState } from "../schema/turn-state.ts";
import { admit, log } from "./open.ts";
import { cancel } from "./state.ts";
import type { BoundaryOut, World } from "./world.ts";

/** What came in between two steps: a cancel, or messages that join the conversation now, if START rails let them (X6). */
export async function listen(
  agent: PinnedAgent,
  world: World,
  state: TurnState,
  { inbox, cancelled }: BoundaryOut,
): Promise<void> {
  if (cancelled !== undefined) return cancel(state, cancelled);
  for (const [i, { message_id, receipt, once }] of inbox.entries()) {
    if (once) {
      state.notes = [...state.notes, message_id];
      world.note({ type: "message_injected", message_id, durable: false, receipt });
      continue;
    }
    if (agent.points.includes("START")) {
      const place = { key: `${state.step}/steer/${i}`, step: state.step, steered: message_id };
      const skipped = await admit(world, state, place);
      if (state.outcome !== null) return;
      if (skipped) {
        world.note({ type: "dropped", message_id, receipt });
        continue;
      }
    }
    log(world, state, [message_id]);
    world.note({ type: "message_injected", message_id, durable: true, receipt });
  }
}
