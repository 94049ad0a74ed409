import type { PinnedAgent } from "../schema/agent.ts";
import type { Outcome } from "../schema/run.ts";
import type { TurnState } from "../schema/turn-state.ts";
import { abortedBy, settleVerdicts } from "./verdicts.ts";
import type { World } from "./world.ts";

/** Exactly one of FINISHED and ERROR fires, a cancel fires neither (R2); then the one terminal status (E2). */
export async function close(agent: PinnedAgent, world: World, state: TurnState): Promise<void> {
  let outcome = ended(state);
  if (outcome.status === "error") world.note({ type: "error", failure: outcome.failure });
  const point = outcome.status === "completed" ? "FINISHED" : "ERROR";
  if (outcome.status !== "cancelled" && agent.points.includes(point)) {
    outcome = await lastWord(world, state, point, outcome);
  }
  state.outcome = outcome;
  world.note(terminal(outcome));
  await world.end(state);
}

/** Rails may still abort: at FINISHED without firing ERROR, at ERROR with the original failure as the cause (R9). */
async function lastWord(
  world: World,
  state: TurnState,
  point: "FINISHED" | "ERROR",
  outcome: Outcome,
): Promise<Outcome> {
  const out = await world.dispatch("close", {
    point,
    step: state.step,
    attempt: 1,
    rails: state.rails,
    agent: state.agent,
    outcome,
  });
  const verdict = settleVerdicts(world, state, { verdicts: out.verdict ? [out.verdict] : [] }, null);
  if (out.cancelled !== undefined) return { status: "cancelled", reason: out.cancelled };
  let failure = out.fatal;
  if (verdict?.action === "abort") failure = abortedBy(verdict);
  if (failure === undefined) return outcome;
  if (outcome.status === "error") {
    const { code, message } = outcome.failure;
    failure = { ...failure, cause: { code, message } };
  }
  world.note({ type: "error", failure });
  return { status: "error", failure };
}

function ended(state: TurnState): Outcome {
  if (state.outcome) return state.outcome;
  const message = "the turn was closed while it was still going on; please report this";
  return { status: "error", failure: { code: "internal", message } };
}

function terminal(outcome: Outcome) {
  switch (outcome.status) {
    case "completed":
      return {
        type: "status" as const,
        status: outcome.status,
        stop_reason: outcome.stop_reason,
        ...(outcome.reason === undefined ? {} : { reason: outcome.reason }),
      };
    case "error":
      return { type: "status" as const, status: outcome.status, failure: outcome.failure };
    case "cancelled":
      return { type: "status" as const, status: outcome.status, reason: outcome.reason };
  }
}
