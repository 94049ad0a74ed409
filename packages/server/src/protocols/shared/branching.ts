import type { RunRecord, Trackside } from "@trackside/host";
import { Refusal } from "./refusal.ts";

/** The branch that goes on right after a run: its own where it is the last on it, a new one where it is not (X7). */
export async function branchAfter(trackside: Trackside, tenant: string, run: RunRecord): Promise<string> {
  const log = await trackside.conversations.messages(run.branch_id, { tenant });
  const at = log.findLast(({ id }) => id.startsWith(`${run.id}.`))?.id;
  if (at !== undefined && at === log.at(-1)?.id) return run.branch_id;
  if (at === undefined)
    throw new Refusal(409, "nothing_to_go_on_from", `The run ${run.id} left nothing to go on from.`);
  return (await trackside.conversations.branch(run.branch_id, { at, tenant })).id;
}
