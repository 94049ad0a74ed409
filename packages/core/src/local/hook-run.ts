import { HookError } from "../errors.ts";
import type { HookContext, PointInputs } from "../hooks/context.ts";
import { ANONYMOUS, type HookManager, type Pace } from "../hooks/hook-manager.ts";
import type { Failure } from "../schema/failure.ts";
import type { HookPoint } from "../schema/verdict.ts";
import type { Effect } from "./effect.ts";
import type { RunContext } from "./run-context.ts";
import type { Watch, Watchdog } from "./watchdog.ts";

const HOOK_TIMEOUT_MS = 30_000;

/** Builds what a hook is given. Getters keep what is costly, like a signal, until somebody reads it. */
export function pointContext<P extends HookPoint>(
  run: RunContext,
  event: P,
  inputs: PointInputs[P],
  attempt: number,
  effect: Effect,
): HookContext<P> {
  const ctx = {
    event,
    inputs,
    agent: run.agent.definition,
    scope: run.scope,
    runId: run.id,
    turnRef: run.turnRef,
    attempt,
    get signal() {
      return effect.signal;
    },
  };
  // Event and inputs belong to the same point by this function's own signature; a mapped union cannot express that.
  return Object.freeze(ctx) as unknown as HookContext<P>;
}

/** Runs one dispatch. A hook that fails, hangs or outlives a cancel ends it; the answer says which. */
export function boundedRun<P extends HookPoint>(
  manager: HookManager,
  point: P,
  ctx: HookContext<P>,
  watchdog: Watchdog,
  effect: Effect,
): Promise<Failure | undefined> {
  return new Promise((resolve, reject) => {
    const pace = new HookPace();
    const finish = (failure: Failure | undefined) => {
      pace.stopped = true;
      pace.watch?.stop();
      unlisten();
      resolve(failure);
    };
    let unlisten = () => {};
    unlisten = effect.onCancel(() => finish(undefined));
    if (pace.stopped) return;
    pace.watch = watchdog.watch(HOOK_TIMEOUT_MS, () =>
      finish(failureOf(new HookError(point, pace.current, `timed out after ${HOOK_TIMEOUT_MS / 1000} s`))),
    );
    manager.run(point, ctx, pace).then(
      () => finish(undefined),
      (error: unknown) => (error instanceof HookError ? finish(failureOf(error)) : reject(error)),
    );
  });
}

class HookPace implements Pace {
  stopped = false;
  current = ANONYMOUS;
  watch: Watch | undefined;

  enter(hook: string): void {
    this.current = hook || ANONYMOUS;
    this.watch?.touch();
  }
}

function failureOf(error: HookError): Failure {
  return { code: "hook_failed", message: error.message, details: { point: error.point, hook: error.hook } };
}
