import type { Effect } from "../effect.ts";
import type { RunContext } from "../run-context.ts";

export function sleep(run: RunContext, ms: number, effect: Effect): Promise<{ cancelled?: string }> {
  return new Promise((resolve) => {
    let stopTimer = () => {};
    const unlisten = effect.onCancel((reason) => {
      stopTimer();
      resolve({ cancelled: reason });
    });
    if (effect.cancelled !== undefined) return;
    stopTimer = run.parts.clock.after(ms, () => {
      unlisten();
      resolve({});
    });
  });
}
