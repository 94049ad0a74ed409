import type { Timer } from "../clock.ts";
import type { Effect } from "../effect.ts";
import type { RunContext } from "../run-context.ts";

export function sleep(run: RunContext, ms: number, effect: Effect): Promise<{ cancelled?: string }> {
  return new Promise((resolve) => {
    let timer: Timer | undefined;
    const listener = {
      cancelled(reason: string) {
        timer?.stop();
        resolve({ cancelled: reason });
      },
    };
    effect.onCancel(listener);
    if (effect.cancelled !== undefined) return;
    timer = run.parts.clock.after(ms, () => {
      effect.offCancel(listener);
      resolve({});
    });
  });
}
