import type { PinnedAgent } from "../schema/agent.ts";
import type { TurnState } from "../schema/turn-state.ts";
import { act } from "./act.ts";
import { complete, publish } from "./answer.ts";
import { PlannerWorld } from "./planner-world.ts";
import { start } from "./state.ts";
import { type Said, think } from "./think.ts";
import type { World } from "./world.ts";

const MAX_STEPS = 5;
const PATH = ["planner"];

/**
 * The planner, once per run: the same steps over the same request, in a lane of its own. What it says and what its tools
 * answer stays in the run's record; the executor gets the plan, and nothing else (P1, P2). It may fail without harm; a
 * rail that aborts it aborts the run (P4, P5).
 */
export async function makePlan(agent: PinnedAgent, world: World, state: TurnState): Promise<void> {
  const planner = { ...agent, definition: { ...agent.definition, max_steps: MAX_STEPS } };
  const lane: TurnState = {
    ...start({ run_id: "", turn_ref: "", log: 0, message_id: "" }),
    usage: state.usage,
    rails: state.rails,
    agent: state.agent,
  };
  const aside = new PlannerWorld(world, state, PATH);
  let last: Said | null = null;
  while (lane.outcome === null) {
    last = await think(aside, lane);
    if (last === null) break;
    if (last.calls.length > 0) await act(planner, aside, lane, last);
    else {
      publish(aside, last);
      aside.note({ type: "logged", message_ids: [last.message_id] });
      complete(aside, lane);
      break;
    }
  }
  state.usage = lane.usage;
  state.rails = lane.rails;
  settle(world, state, lane, last);
}

function settle(world: World, state: TurnState, lane: TurnState, last: Said | null): void {
  const { outcome } = lane;
  if (outcome?.status === "cancelled") {
    state.outcome = outcome;
    return;
  }
  const failure = outcome?.status === "error" ? outcome.failure : undefined;
  if (failure?.code === "rail_aborted" || failure?.code === "hook_failed") {
    state.outcome = outcome;
    return;
  }
  if (last?.plan) {
    state.plan = last.plan.message_id;
    world.note({ type: "plan", plan: last.plan.plan });
    return;
  }
  const message = "The planner came to no plan; the run goes on without one.";
  world.note({ type: "plan", plan: null, failure: failure ?? { code: "model_failed", message } });
}
