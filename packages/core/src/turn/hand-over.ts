import type { PinnedAgent } from "../schema/agent.ts";
import type { Failure } from "../schema/failure.ts";
import type { TurnState } from "../schema/turn-state.ts";
import type { Verdict } from "../schema/verdict.ts";
import { nextHandoff } from "../subagents/handoff.ts";
import { actingName } from "./acting.ts";
import { abortedBy, Retries, settleVerdicts } from "./verdicts.ts";
import type { HandoffWish, Handover, Refused, World } from "./world.ts";

/** What came of a wish to hand the turn over: it may go, it stays, or the run ends over it. */
export interface Handed {
  readonly handoff: Handover;
  readonly refused?: Refused;
  readonly fatal?: Failure;
  readonly cancelled?: string;
}

/**
 * May the turn go to another agent? Not on a way it went before, nor where a HANDOFF rail has it stay, nor when it is on its
 * way already (S7).
 */
export async function handOver(
  agent: PinnedAgent,
  world: World,
  state: TurnState,
  key: string,
  { to, reason, input }: HandoffWish,
  leaving: Handover | undefined,
): Promise<Handed> {
  const from = actingName(agent, state);
  const handoff = { from, to, reason, input };
  if (leaving) return { handoff, refused: rejected(`the turn goes to "${leaving.to}" already`) };
  const allowed = nextHandoff(state.handoffs, from, to);
  if (!allowed.ok) return { handoff, refused: rejected(allowed.problem) };
  if (!agent.points.includes("HANDOFF")) return { handoff };
  return { handoff, ...(await guard(world, state, key, handoff)) };
}

async function guard(
  world: World,
  state: TurnState,
  key: string,
  handoff: Handover,
): Promise<Omit<Handed, "handoff">> {
  const retries = new Retries();
  for (let attempt = 1; ; attempt++) {
    const { step, rails, agent } = state;
    const asked = { point: "HANDOFF" as const, step, attempt, rails, agent, handoff };
    const out = await world.dispatch(`${key}/${attempt}`, asked);
    const verdict = settleVerdicts(world, state, { verdicts: out.verdict ? [out.verdict] : [] }, null);
    if (out.cancelled !== undefined) return { refused: STOPPED, cancelled: out.cancelled };
    if (out.fatal) return ended(out.fatal);
    if (verdict === undefined) return {};
    if (verdict.action === "skip") return { refused: stays(verdict) };
    const delay = verdict.action === "retry" ? retries.next(verdict) : undefined;
    if (delay === undefined) return ended(abortedBy(verdict));
    const waited = await world.sleep(`${key}/wait/${attempt}`, delay);
    if (waited.cancelled !== undefined) return { refused: STOPPED, cancelled: waited.cancelled };
  }
}

const STOPPED: Refused = { code: "cancelled", why: "the run was stopped" };

function rejected(why: string): Refused {
  return { code: "rejected", why };
}

function stays({ rail, reason }: Verdict): Refused {
  const by = rail ?? "";
  return { code: "rejected", why: `${by} has it stay${reason === "" ? "" : `: ${reason}`}`, by };
}

function ended(fatal: Failure): Omit<Handed, "handoff"> {
  return { refused: { code: "cancelled", why: fatal.message }, fatal };
}
