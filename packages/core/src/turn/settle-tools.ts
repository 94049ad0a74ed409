import type { Call } from "../schema/tool.ts";
import type { Said } from "./think.ts";
import type { ToolOut, World } from "./world.ts";

/**
 * Runs the calls of one message beside each other, except those that may not be: an exclusive call runs alone, calls with
 * the same resource key one after another. Every call ends with a paired result; a fatal one stops its siblings (R9).
 */
export async function settleTools(world: World, step: number, said: Said): Promise<readonly ToolOut[]> {
  const [only, second] = said.calls;
  if (only && !second) return [await settle(world, step, said, only)];

  const settled: Promise<ToolOut>[] = [];
  for (const [i, call] of said.calls.entries()) {
    const before = settled.filter((_, j) => conflict(said.calls[j], call));
    const run = () => settle(world, step, said, call);
    settled[i] = before.length > 0 ? Promise.all(before).then(run) : run();
  }
  return Promise.all(settled);
}

async function settle(world: World, step: number, said: Said, call: Call): Promise<ToolOut> {
  const attempt = 1;
  const input = { step, message_id: said.message_id, call, attempt };
  const out = await world.tool(`${step}/${call.index}/tool/${attempt}`, input);
  world.note({ type: "tool_result", message_id: out.message_id });
  if (out.fatal) world.cancel(`${step}/`, out.fatal.message);
  return out;
}

function conflict(earlier: Call | undefined, later: Call): boolean {
  if (earlier === undefined) return false;
  if (earlier.exclusive || later.exclusive) return true;
  return earlier.resource !== undefined && earlier.resource === later.resource;
}
