import type { Timer } from "../clock.ts";
import type { Effect } from "../effect.ts";
import type { RunContext } from "../run-context.ts";

/** Timers cannot be set for more than 24 days. */
const LONGEST_MS = 86_400_000;

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
    const wait = (left: number) => {
      timer = run.parts.clock.after(Math.min(left, LONGEST_MS), () => {
        if (left > LONGEST_MS) return wait(left - LONGEST_MS);
        effect.offCancel(listener);
        resolve({});
      });
    };
    wait(ms);
  });
}
