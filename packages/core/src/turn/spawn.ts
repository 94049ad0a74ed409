import type { Call } from "../schema/tool.ts";
import type { TurnState } from "../schema/turn-state.ts";
import type { Job } from "../subagents/jobs.ts";
import { charge } from "./charge.ts";
import type { Slots } from "./slots.ts";
import { NO_USAGE } from "./state.ts";
import type { ChildOut, Spawn, World } from "./world.ts";

/**
 * Runs the sub-agents of one call, each a run of its own. Calls of one step share the slots, so that never more than the
 * agent allows are live at once (S2). One failure is one entry; only a rail's abort reaches the others (S5, R14).
 */
export function spawn(
  world: World,
  state: TurnState,
  call: Call,
  { jobs, limited }: Spawn,
  slots: Slots,
): Promise<readonly ChildOut[]> {
  const batch: Batch = { world, state, call, slots, limited };
  return Promise.all(jobs.map((job) => run(batch, job)));
}

interface Batch {
  readonly world: World;
  readonly state: TurnState;
  readonly call: Call;
  readonly slots: Slots;
  readonly limited: boolean;
}

async function run(batch: Batch, job: Job): Promise<ChildOut> {
  const { world, state, call, slots, limited } = batch;
  const { index } = job;
  const run_id = `${call.id}.job${index}`;
  if (limited) await slots.take();
  if (slots.stopped !== undefined) {
    if (limited) slots.free();
    return notRun(run_id, slots.stopped);
  }
  const about = { type: "subagent" as const, child_run_id: run_id, call_id: call.id, index };
  world.note({ ...about, state: "started" });
  const label = `${state.step}.${call.index + 1}[${index}]`;
  const key = `${state.step}/${call.index}/child/${index}`;
  const out = await world.child(key, { run_id, call_id: call.id, label, job, agent: state.agent });
  world.note({ ...about, state: "completed", status: out.status });
  if (out.usage.model_calls > 0) charge(world, state, "subagents", out.usage);
  if (out.aborted) {
    slots.stopped = out.failure?.message ?? "a rail aborted the run";
    world.cancel(`${state.step}/`, slots.stopped);
  } else if (out.cancelled !== undefined) slots.stopped = out.cancelled;
  if (limited) slots.free();
  return out;
}

function notRun(run_id: string, reason: string): ChildOut {
  const failure = { code: "cancelled" as const, message: `Not run: ${reason}` };
  return { run_id, status: "error", failure, usage: NO_USAGE };
}
