import type { PinnedAgent } from "../schema/agent.ts";
import type { TurnState } from "../schema/turn-state.ts";
import { halt, log } from "./open.ts";
import { cancel, fail } from "./state.ts";
import type { Said } from "./think.ts";
import type { World } from "./world.ts";

const MAX_REPAIRS = 1;

/** The model asked for no tool: its text is the answer, if it fits the output schema (E3) and post-hooks let it pass (H7). */
export async function answer(agent: PinnedAgent, world: World, state: TurnState, said: Said): Promise<void> {
  if (said.invalid !== undefined) {
    repair(agent, world, state, said, said.invalid);
    return;
  }
  const added = await review(agent, world, state, said, (reason) => retract(world, said, reason));
  if (added === null) return;
  publish(world, said);
  log(world, state, [said.message_id, ...added]);
  noteAdded(world, added);
  complete(world, state);
  const stop_reason = said.skipped ? "skipped" : "answered";
  state.outcome = { status: "completed", stop_reason, message_id: said.message_id };
}

function noteAdded(world: World, added: readonly string[]): void {
  for (const id of added) world.note({ type: "message_injected", message_id: id, durable: true });
}

/** One repair: the draft is retracted, the next request carries it with what was wrong. */
function repair(agent: PinnedAgent, world: World, state: TurnState, said: Said, problem: string): void {
  if (state.repairs >= MAX_REPAIRS || state.step >= agent.definition.max_steps) {
    retract(world, said, problem);
    const message = `The answer does not fit the agent's output_schema: ${problem}`;
    fail(state, { code: "output_invalid", message, details: { message_id: said.message_id, problem } });
    return;
  }
  state.repairs += 1;
  const feedback = `Your answer does not fit the required JSON schema: ${problem}\nAnswer again with JSON that fits, and nothing else.`;
  sendBack(world, state, said, problem, feedback);
}

/**
 * The last step's text is the output (E3), if post-hooks let it pass (H7). It was shown and logged before its calls ran, as
 * any step's text is, so it is not retracted when they do not.
 */
export async function answerAtLimit(
  agent: PinnedAgent,
  world: World,
  state: TurnState,
  said: Said,
): Promise<void> {
  const added = said.has_text ? await review(agent, world, state, said, () => {}) : [];
  if (added === null) return;
  if (added.length > 0) log(world, state, added);
  noteAdded(world, added);
  state.outcome = { status: "completed", stop_reason: "max_steps", message_id: said.message_id };
}

/** Post-hooks see the turn ending with the answer. Returns what they add to the log, or null when the answer does not stand. */
async function review(
  agent: PinnedAgent,
  world: World,
  state: TurnState,
  said: Said,
  withdraw: (reason: string) => void,
): Promise<readonly string[] | null> {
  if (!agent.post_hooks) return [];
  const { step, rails } = state;
  const out = await world.hooks(`${step}/post`, {
    phase: "post",
    step,
    rails,
    agent: state.agent,
    message_id: said.message_id,
  });
  if (out.cancelled !== undefined || out.fatal || out.halted) {
    withdraw(out.halted ? `${out.halted.by}: ${out.halted.reason}` : "the run stopped");
    if (out.cancelled !== undefined) cancel(state, out.cancelled);
    else if (out.fatal) fail(state, out.fatal);
    else if (out.halted) halt(state, out.halted);
    return null;
  }
  if (out.regenerate === undefined) return out.durable ?? [];

  const { by, feedback } = out.regenerate;
  if (state.regenerations >= agent.definition.max_regenerations || step >= agent.definition.max_steps) {
    withdraw(`${by}: ${feedback}`);
    halt(state, { by, reason: `no regeneration is left: ${feedback}` });
    return null;
  }
  state.regenerations += 1;
  sendBack(world, state, said, `${by}: ${feedback}`, feedback);
  return null;
}

/** The draft is retracted; the next request carries it with the feedback, and the log does not. */
function sendBack(world: World, state: TurnState, said: Said, reason: string, feedback: string): void {
  retract(world, said, reason);
  state.redo = { message_id: said.message_id, feedback };
  complete(world, state);
}

function retract(world: World, said: Said, reason: string): void {
  world.note({ type: "message_retracted", message_id: said.message_id, attempt: said.attempt, reason });
}

/** Makes what was said visible: reasoning, then text. */
export function publish(world: World, said: Said): void {
  if (said.has_reasoning) world.note({ type: "reasoning", message_id: said.message_id });
  if (said.has_text) world.note({ type: "text", message_id: said.message_id });
}

export function complete(world: World, state: TurnState): void {
  const { step, passed } = state;
  if (passed > 0) world.note({ type: "step", step, state: "completed", passed });
  else world.note({ type: "step", step, state: "completed" });
}
