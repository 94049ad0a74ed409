import type { PinnedAgent } from "../schema/agent.ts";
import type { TurnStart, TurnState } from "../schema/turn-state.ts";
import { equip } from "./equip.ts";
import { makeRoom } from "./make-room.ts";
import { cancel, fail } from "./state.ts";
import { abortedBy, Retries, settleVerdicts } from "./verdicts.ts";
import type { World } from "./world.ts";

/**
 * START rails, which may refuse or change the message; then room is made for it; then pre-hooks; then the message is logged
 * with what they added.
 */
export async function open(
  agent: PinnedAgent,
  turn: TurnStart,
  world: World,
  state: TurnState,
): Promise<void> {
  world.note({
    type: "status",
    status: "starting",
    ...(agent.held_by.length > 0 ? { held_by: [...agent.held_by] } : {}),
  });
  state.phase = "stepping";
  if (agent.servers) await equip(world, state);
  if (state.outcome !== null) return;
  if (agent.points.includes("START")) {
    const skipped = await admit(world, state, { key: "start", step: 0 });
    if (skipped) skipTurn(world, state, skipped);
  }
  if (state.outcome === null && turn.log > 0) await makeRoom(world, state, "room", "opening");
  if (state.outcome !== null) return;
  state.turn_at = state.log;
  if (agent.pre_hooks) await inject(agent, turn, world, state);
  else {
    log(world, state, [turn.message_id]);
    state.tail_at = state.log;
  }
}

/** A message that START rails did not let in, and what stands in for the turn it would have opened. */
interface Skipped {
  readonly messageId: string | undefined;
  readonly reason: string;
}

/** START comes before a user's message is logged (R2). Answers when it is to be skipped; the outcome says when it failed. */
export async function admit(
  world: World,
  state: TurnState,
  { key, step, steered }: { key: string; step: number; steered?: string },
): Promise<Skipped | undefined> {
  const retries = new Retries();
  for (let attempt = 1; ; attempt++) {
    const out = await world.dispatch(`${key}/${attempt}`, {
      point: "START",
      step,
      attempt,
      rails: state.rails,
      agent: state.agent,
      ...(steered === undefined ? {} : { steered }),
    });
    const verdict = settleVerdicts(world, state, { verdicts: out.verdict ? [out.verdict] : [] }, null);
    if (out.cancelled !== undefined) return void cancel(state, out.cancelled);
    if (out.fatal) return void fail(state, out.fatal);
    if (verdict === undefined) return undefined;
    if (verdict.action === "skip") return { messageId: out.message_id, reason: verdict.reason };
    const delay = verdict.action === "retry" ? retries.next(verdict) : undefined;
    if (delay === undefined) return void fail(state, abortedBy(verdict));
    const waited = await world.sleep(`${key}/wait/${attempt}`, delay);
    if (waited.cancelled !== undefined) return void cancel(state, waited.cancelled);
  }
}

function skipTurn(world: World, state: TurnState, { messageId, reason }: Skipped): void {
  if (messageId !== undefined) world.note({ type: "text", message_id: messageId });
  state.outcome = {
    status: "completed",
    stop_reason: "skipped",
    message_id: messageId ?? null,
    ...(reason === "" ? {} : { reason }),
  };
}

/** Pre-hooks, once per turn: durable parts join the log before the message, transient ones this turn's tail (H2, H4). */
async function inject(agent: PinnedAgent, turn: TurnStart, world: World, state: TurnState): Promise<void> {
  const out = await world.hooks("pre", {
    phase: "pre",
    step: 0,
    rails: state.rails,
    agent: state.agent,
  });
  const durable = out.durable ?? [];
  for (const { hook, problem } of out.skipped ?? []) {
    world.note({
      type: "error",
      failure: {
        code: "hook_failed",
        message: `The hook "${hook}" was left out: ${problem}`,
        details: { hook },
      },
      skipped: true,
    });
  }
  const audit = agent.definition.audit_transient;
  for (const id of durable) world.note({ type: "message_injected", message_id: id, durable: true });
  for (const id of out.tail ?? [])
    world.note({ type: "message_injected", message_id: id, durable: false, audit });
  log(world, state, [...durable, turn.message_id]);
  state.tail = [...(out.tail ?? [])];
  state.tail_at = state.log;
  if (out.cancelled !== undefined) return cancel(state, out.cancelled);
  if (out.fatal) return fail(state, out.fatal);
  if (out.halted) halt(state, out.halted);
}

/**
 * The turn goes on from one of its steps, and its transient parts are gone: pre-hooks make them again, nothing else (X13).
 * They are the first agent's, whoever has the turn by now.
 */
export async function refresh(agent: PinnedAgent, world: World, state: TurnState): Promise<void> {
  state.phase = "stepping";
  if (!agent.pre_hooks) return;
  const out = await world.hooks("refresh", { phase: "pre", step: 0, rails: state.rails, agent: null });
  const audit = agent.definition.audit_transient;
  for (const id of out.tail ?? [])
    world.note({ type: "message_injected", message_id: id, durable: false, audit });
  state.tail = [...(out.tail ?? [])];
  if (out.cancelled !== undefined) return cancel(state, out.cancelled);
  if (out.fatal) return fail(state, out.fatal);
  if (out.halted) halt(state, out.halted);
}

/** A halted turn completes with the reason and no output (H3). */
export function halt(state: TurnState, { by, reason }: { by: string; reason: string }): void {
  state.outcome = {
    status: "completed",
    stop_reason: "halted",
    message_id: null,
    reason: `${by}: ${reason}`,
  };
}

export function log(world: World, state: TurnState, messageIds: readonly string[]): void {
  world.note({ type: "logged", message_ids: messageIds });
  state.log += messageIds.length;
}
