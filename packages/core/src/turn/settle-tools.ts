import type { Call } from "../schema/tool.ts";
import { type Batch, type Settled, settleCall } from "./settle-call.ts";

/**
 * Runs the calls of one message beside each other, except those that may not be: an exclusive call runs alone, calls with
 * the same resource key one after another. Every call ends with a paired result; a fatal one stops its siblings (R9).
 */
export function settleTools(batch: Batch): Promise<readonly Settled[]> {
  const { calls } = batch.said;
  const settled: Promise<Settled>[] = [];
  for (const [i, call] of calls.entries()) {
    const before = settled.filter((_, j) => conflict(calls[j], call));
    const run = () => settleCall(batch, call);
    settled[i] =
      before.length > 0 ? Promise.all(before).then((ended) => afterThem(batch, ended, run)) : run();
  }
  return Promise.all(settled);
}

/** A call that waited for cancelled ones must not start, though its engine may hear of the cancel only later (X5). */
function afterThem(
  { world, state }: Batch,
  ended: readonly Settled[],
  run: () => Promise<Settled>,
): Promise<Settled> {
  const cancelled = ended.find((one) => one.cancelled !== undefined)?.cancelled;
  if (cancelled !== undefined) world.cancel(`${state.step}/`, cancelled);
  return run();
}

function conflict(earlier: Call | undefined, later: Call): boolean {
  if (earlier === undefined) return false;
  if (earlier.exclusive || later.exclusive) return true;
  return earlier.resource !== undefined && earlier.resource === later.resource;
}
