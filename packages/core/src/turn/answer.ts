import type { PinnedAgent } from "../schema/agent.ts";
import type { TurnState } from "../schema/turn-state.ts";
import { fail } from "./state.ts";
import type { Said } from "./think.ts";
import type { World } from "./world.ts";

const MAX_REPAIRS = 1;

/** The model asked for no tool: its text is the answer, unless it does not fit the agent's output schema (E3). */
export function answer(agent: PinnedAgent, world: World, state: TurnState, said: Said): void {
  if (said.invalid !== undefined) {
    sendBack(agent, world, state, said, said.invalid);
    return;
  }
  publish(world, said);
  log(world, state, [said.message_id]);
  complete(world, state);
  state.outcome = { status: "completed", stop_reason: "answered", message_id: said.message_id };
}

/** One repair: the draft is retracted, the next request carries it with what was wrong. */
function sendBack(agent: PinnedAgent, world: World, state: TurnState, said: Said, problem: string): void {
  world.note({
    type: "message_retracted",
    message_id: said.message_id,
    attempt: said.attempt,
    reason: problem,
  });
  if (state.repairs >= MAX_REPAIRS || state.step >= agent.definition.max_steps) {
    const message = `The answer does not fit the agent's output_schema: ${problem}`;
    fail(state, { code: "output_invalid", message, details: { message_id: said.message_id, problem } });
    return;
  }
  state.repairs += 1;
  state.redo = {
    message_id: said.message_id,
    feedback: `Your answer does not fit the required JSON schema: ${problem}\nAnswer again with JSON that fits, and nothing else.`,
  };
  complete(world, state);
}

/** Makes what was said visible: reasoning, then text. */
export function publish(world: World, said: Said): void {
  if (said.has_reasoning) world.note({ type: "reasoning", message_id: said.message_id });
  if (said.has_text) world.note({ type: "text", message_id: said.message_id });
}

export function log(world: World, state: TurnState, messageIds: readonly string[]): void {
  world.note({ type: "logged", message_ids: messageIds });
  state.log += messageIds.length;
}

export function complete(world: World, state: TurnState): void {
  world.note({ type: "step", step: state.step, state: "completed" });
}
