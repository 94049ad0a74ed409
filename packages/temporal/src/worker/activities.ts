import { ApplicationFailure, CancelledFailure, Context } from "@temporalio/activity";
import type { WorkflowClient } from "@temporalio/client";
import { type Effects, Erased, Parked } from "@trackside/host/effects";
import type { EffectAnswer, EffectOrder } from "trackside/loop";
import { type Activities, ERASED, PARKED, STOPPED, type Unable } from "../common/wire.ts";

export interface ActivitiesInit {
  readonly effects: Effects;
  readonly workflows: WorkflowClient;
  /** The task queue that only this worker has. */
  readonly own: string;
  readonly heartbeatMs: number;
}

const LEFT = "left";

/** The effects of runs as activities: the handlers are those of every engine, over the store. */
export function activitiesOf({ effects, workflows, own, heartbeatMs }: ActivitiesInit): Activities {
  const perform = async (order: EffectOrder): Promise<EffectAnswer | Unable> => {
    const context = Context.current();
    const { attempt } = context.info;
    const wasLeft = context.info.heartbeatDetails === LEFT;
    const gone = new AbortController();
    const stop = (reason: string) => effects.cancel(order.run_id, order.asked.key, reason);
    void context.cancelled.catch(async (error: unknown) => {
      const isOurs = error instanceof CancelledFailure && error.message === "CANCELLED";
      // Another reason than a cancel: this worker shuts down, or the server has given this try up.
      if (isOurs) return stop(await reasonOf(workflows, order));
      context.heartbeat(LEFT); // whoever tries next is told
      gone.abort();
    });
    try {
      return await beating(heartbeatMs, () =>
        effects.perform(order, { name: own, attempt, signal: gone.signal, wasLeft }),
      );
    } catch (error) {
      return unableOr(error);
    }
  };
  const guarded =
    <Args extends unknown[], Out>(work: (...args: Args) => Promise<Out>) =>
    async (...args: Args): Promise<Out | Unable> => {
      try {
        return await beating(heartbeatMs, () => work(...args));
      } catch (error) {
        return unableOr(error);
      }
    };
  return {
    dispatch: perform,
    hooks: perform,
    model: perform,
    tool: perform,
    ask: perform,
    compact: perform,
    equip: perform,
    node: perform,
    boundary: perform,
    open: guarded(async (runId) => (await effects.open(runId)) ?? null),
    openChild: guarded((order) => effects.openChild(order)),
    write: guarded(async (order) => (await effects.write(order)) ?? null),
    park: async (runId, why) => effects.park(runId, why),
  };
}

/** Says that it lives while it works. A model or a tool may be silent for minutes. */
async function beating<T>(ms: number, work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  if (context.info.isLocal) return work();
  const timer = setInterval(() => context.heartbeat(), ms);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** Why the loop wants an effect stopped. Only the workflow knows. */
async function reasonOf(workflows: WorkflowClient, { run_id, asked }: EffectOrder): Promise<string> {
  try {
    const reason = await workflows.getHandle(run_id).query<string | null, [string]>(STOPPED, asked.key);
    return reason ?? "stopped";
  } catch {
    return "stopped";
  }
}

/** What a workflow should do about it: ask another worker, park the run, or have the effect performed again. */
function unableOr(error: unknown): Unable {
  if (error instanceof Erased) throw ApplicationFailure.nonRetryable(error.message, ERASED);
  if (!(error instanceof Parked)) throw error;
  if (error.code === "diverged") return { unable: error.reason };
  throw ApplicationFailure.nonRetryable(error.reason, PARKED, error.code);
}
