import type { PinnedAgent } from "../schema/agent.ts";
import type { TurnState } from "../schema/turn-state.ts";
import { answerAtLimit, complete, publish } from "./answer.ts";
import { log } from "./open.ts";
import { type Batch, settleCall } from "./settle-call.ts";
import { settleTools } from "./settle-tools.ts";
import { cancel, fail } from "./state.ts";
import type { Said } from "./think.ts";
import type { Handover, World } from "./world.ts";

/** The model asked for tools: run every call, then log the results in call order, whatever finished first (T6). */
export async function act(agent: PinnedAgent, world: World, state: TurnState, said: Said): Promise<void> {
  publish(world, said);
  for (const call of said.calls) {
    world.note({ type: "tool_call", message_id: said.message_id, call_id: call.id });
  }
  log(world, state, [said.message_id]);

  state.open = said.calls.map((call) => call.id);
  const [only, second] = said.calls;
  const batch: Batch = { agent, world, state, said };
  const settled = only && !second ? [await settleCall(batch, only)] : await settleTools(batch);
  state.open = [];
  log(
    world,
    state,
    settled.map((out) => out.message_id),
  );

  const fatal = settled.find((out) => out.fatal)?.fatal;
  if (fatal) return fail(state, fatal);
  const cancelled = settled.find((out) => out.cancelled !== undefined)?.cancelled;
  if (cancelled !== undefined) return cancel(state, cancelled);

  if (state.step >= agent.definition.max_steps) await answerAtLimit(agent, world, state, said);
  if (batch.handoff) passOn(world, state, batch.handoff);
  complete(world, state);
}

/** From here on the turn is another agent's (S7). */
function passOn(world: World, state: TurnState, { from, to, reason }: Handover): void {
  state.handoffs = [...state.handoffs, { from, to }];
  state.agent = state.agent === null ? to : `${state.agent}/${to}`;
  state.anchor = null; // another agent's requests have another size
  world.note({ type: "handoff", from, to, reason });
}
