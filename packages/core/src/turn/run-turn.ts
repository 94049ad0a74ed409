import type { PinnedAgent } from "../schema/agent.ts";
import type { TurnStart, TurnState } from "../schema/turn-state.ts";
import { runNodes } from "../workflows/run-nodes.ts";
import { act } from "./act.ts";
import { acting } from "./acting.ts";
import { answer } from "./answer.ts";
import { close } from "./close.ts";
import { listen } from "./listen.ts";
import { open, refresh } from "./open.ts";
import { makePlan } from "./plan.ts";
import { start } from "./state.ts";
import { think } from "./think.ts";
import type { World } from "./world.ts";

/**
 * One turn, from a user's message to its answer. This is the only loop there is: it runs in-process, under a journal, and
 * inside a workflow sandbox. It touches no clock, network, file or random source and holds no transcript. It asks `world`
 * for each effect and keeps a small JSON `state`, from which it can be started again at any step boundary.
 */
export async function runTurn(
  agent: PinnedAgent,
  turn: TurnStart,
  world: World,
  state: TurnState = start(turn),
): Promise<TurnState> {
  if (state.phase === "opening") {
    await open(agent, turn, world, state);
    if (state.outcome === null && agent.definition.planning_enabled) await makePlan(agent, world, state);
  }
  if (state.phase === "refreshing") await refresh(agent, world, state);
  if (state.outcome === null && agent.graph) await runNodes(agent, agent.graph, turn, world, state); // a workflow

  while (state.outcome === null) {
    const now = acting(agent, state); // another one after a handoff
    const boundary = world.boundary(state); // a checkpoint; what came in meanwhile is heard here
    if (boundary) await listen(now, world, state, await boundary);
    if (state.outcome !== null) break;

    const said = await think(world, state); // one model call, with its retries and fallbacks
    if (said === null) break; // it failed or was cancelled; the outcome says which

    if (said.calls.length > 0)
      await act(now, world, state, said); // run the calls, log their results
    else await answer(now, world, state, said); // accept the answer, or send it back
  }

  await close(acting(agent, state), world, state);
  return state;
}
