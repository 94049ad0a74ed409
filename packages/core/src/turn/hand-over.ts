import type { PinnedAgent } from "../schema/agent.ts";
import type { Failure } from "../schema/failure.ts";
import type { TurnState } from "../schema/turn-state.ts";
import { nextHandoff } from "../subagents/handoff.ts";
import { actingName } from "./acting.ts";
import { abortedBy, Retries, settleVerdicts } from "./verdicts.ts";
import type { Handover, World } from "./world.ts";

/** What came of a wish to hand the turn over: it may go, it stays, or the run ends over it. */
export interface Handed {
  readonly handoff: Handover;
  readonly refused?: string;
  readonly fatal?: Failure;
  readonly cancelled?: string;
}

/** May the turn go to another agent? Not on a way it went before, nor where a HANDOFF rail has it stay (S7). */
export async function handOver(
  agent: PinnedAgent,
  world: World,
  state: TurnState,
  key: string,
  { to, reason }: { to: string; reason: string },
): Promise<Handed> {
  const from = actingName(agent, state);
  const handoff = { from, to, reason };
  const allowed = nextHandoff(state.handoffs, from, to);
  if (!allowed.ok) return { handoff, refused: allowed.problem };
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
    if (out.cancelled !== undefined) return { refused: "the run was stopped", cancelled: out.cancelled };
    if (out.fatal) return { refused: out.fatal.message, fatal: out.fatal };
    if (verdict === undefined) return {};
    if (verdict.action === "skip") return { refused: `${verdict.rail} has it stay. ${verdict.reason}`.trim() };
    const delay = verdict.action === "retry" ? retries.next(verdict) : undefined;
    if (delay === undefined) {
      const fatal = abortedBy(verdict);
      return { refused: fatal.message, fatal };
    }
    const waited = await world.sleep(`${key}/wait/${attempt}`, delay);
    if (waited.cancelled !== undefined) return { refused: "the run was stopped", cancelled: waited.cancelled };
  }
}
