import type { Timer } from "../clock.ts";
import type { Effect } from "../effect.ts";
import type { RunContext } from "../run-context.ts";

export function sleep(run: RunContext, ms: number, effect: Effect): Promise<{ cancelled?: string }> {
  return new Promise((resolve) => {
    let timer: Timer | undefined;
    const cancel = (reason: string) => {
      timer?.stop();
      resolve({ cancelled: reason });
    };
    effect.onCancel(cancel);
    if (effect.cancelled !== undefined) return;
    timer = run.parts.clock.after(ms, () => {
      effect.offCancel(cancel);
      resolve({});
    });
  });
}
