import type { TurnState } from "../schema/turn-state.ts";
import { cancel, fail } from "./state.ts";
import type { World } from "./world.ts";

/** The tools of servers. One that cannot be had ends the run; one that may not be offered is told of (T3, M5). */
export async function equip(world: World, state: TurnState): Promise<void> {
  const { withheld = [], held = [], failure, cancelled } = await world.equip("equip", { rails: state.rails });
  for (const detail of withheld)
    world.note({ type: "context", action: "withheld", tokens_before: 0, tokens_after: 0, detail });
  for (const { approval_id, tool, reasons, deadline } of held)
    world.note({
      type: "approval",
      approval_id,
      kind: "tool_definition",
      state: "pending",
      call_id: null,
      tool,
      reasons: [...reasons],
      deadline,
    });
  if (cancelled !== undefined) cancel(state, cancelled);
  else if (failure) fail(state, failure);
}
