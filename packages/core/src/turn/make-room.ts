import type { TurnState } from "../schema/turn-state.ts";
import { charge } from "./charge.ts";
import { log } from "./open.ts";
import { cancel, fail } from "./state.ts";
import { abortedBy, Retries, settleVerdicts } from "./verdicts.ts";
import type { CompactInput, CompactOut, World } from "./world.ts";

/**
 * Compaction: the log stays as it is, an entry in it says how it is shown from now on (B4). CONTEXT_WINDOW rails may do it
 * their way, or not at all. The outcome says when the run ended over it.
 */
export async function makeRoom(
  world: World,
  state: TurnState,
  key: string,
  why: CompactInput["why"],
): Promise<void> {
  const retries = new Retries();
  for (let attempt = 1; ; attempt++) {
    const asked = world.compact(`${key}/${attempt}`, input(state, why, attempt));
    if (asked === undefined) return; // there is room enough
    const out = await asked;
    const verdict = settleVerdicts(world, state, out, null);
    if (out.usage) charge(world, state, out.model ?? "", out.usage);
    if (out.cancelled !== undefined) return cancel(state, out.cancelled);
    if (out.fatal) return fail(state, out.fatal);
    if (verdict?.action === "abort") return fail(state, abortedBy(verdict));
    if (verdict?.action !== "retry") return settle(world, state, out);
    const delay = retries.next(verdict);
    if (delay === undefined) return fail(state, abortedBy(verdict));
    const waited = await world.sleep(`${key}/wait/${attempt}`, delay);
    if (waited.cancelled !== undefined) return cancel(state, waited.cancelled);
  }
}

function input(state: TurnState, why: CompactInput["why"], attempt: number): CompactInput {
  const { step, agent, log: up_to, turn_at, tail_at, tail, plan, notes, redo, anchor, rails } = state;
  return { step, attempt, why, agent, up_to, turn_at, tail_at, tail, plan, notes, redo, anchor, rails };
}

function settle(world: World, state: TurnState, out: CompactOut): void {
  for (const change of out.done ?? []) world.note({ type: "context", ...change });
  if (out.message_id === undefined) return;
  log(world, state, [out.message_id]);
  if (state.anchor) state.anchor = { ...state.anchor, moved: true };
}
