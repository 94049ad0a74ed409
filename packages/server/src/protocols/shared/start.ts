import { setTimeout as sleep } from "node:timers/promises";
import type { StartedTurn, StartOptions, Trackside } from "@trackside/host";
import { TracksideError, type UserInput } from "trackside";

const LOOKS = 10;
const BETWEEN_MS = 50;

/**
 * Starts a turn. A client that stops a run and at once says something else is heard in any order: its leaving may be
 * noticed only after its next request. So a run that is being cancelled is waited for; any other is in the way (X7).
 */
export async function startTurn(
  trackside: Trackside,
  agent: string,
  input: UserInput,
  options: StartOptions & { readonly scope: { readonly tenant: string } },
): Promise<StartedTurn> {
  try {
    return await trackside.start(agent, input, options);
  } catch (error) {
    const busy = busyWith(error);
    if (busy === undefined || !(await isLeaving(trackside, options.scope.tenant, busy))) throw error;
    return trackside.start(agent, input, options);
  }
}

/** The run that a refusal names. */
function busyWith(error: unknown): string | undefined {
  if (!(error instanceof TracksideError) || error.code !== "conversation_busy") return undefined;
  return /\brun_[a-z0-9]+/.exec(error.message)?.[0];
}

async function isLeaving(trackside: Trackside, tenant: string, runId: string): Promise<boolean> {
  for (let look = 0; look < LOOKS; look++) {
    const { cancel_reason, ended_at, status } = await trackside.runs.get(runId, { tenant });
    if (ended_at !== null) return true;
    if (cancel_reason !== null) {
      await trackside.runs.result(runId, { tenant }).catch(() => {}); // it rejects, being cancelled
      return true;
    }
    if (status === "waiting" || status === "parked") return false; // nobody reads it, so nobody leaves it
    await sleep(BETWEEN_MS);
  }
  return false;
}
