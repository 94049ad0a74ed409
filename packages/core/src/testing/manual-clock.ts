import type { Clock } from "../local/clock.ts";

export interface ManualClock extends Clock {
  /** Lets time pass: everything that falls due runs, in order. */
  advance(ms: number): Promise<void>;
  /** Moves from timer to timer, as they come, until the promise settles. */
  finish<T>(promise: Promise<T>): Promise<T>;
  /** How many timers are waiting, not counting those that nobody needs. */
  readonly pending: number;
}

/** A clock that stands still until it is told otherwise. `random` always answers 0.5. */
export function manualClock(start = 1_700_000_000_000): ManualClock {
  let now = start;
  let order = 0;
  const timers = new Map<number, { at: number; run: () => void; held: boolean }>();
  const due = (until: number) =>
    [...timers].filter(([, timer]) => timer.at <= until).sort(([a, x], [b, y]) => x.at - y.at || a - b)[0];
  const fire = async (id: number, timer: { at: number; run: () => void }) => {
    timers.delete(id);
    now = Math.max(now, timer.at);
    timer.run();
    await settled();
  };
  return {
    now: () => now,
    random: () => 0.5,
    after(ms, run) {
      const id = order++;
      const timer = { at: now + ms, run, held: true };
      timers.set(id, timer);
      return {
        stop: () => timers.delete(id),
        hold: (alive) => {
          timer.held = alive;
        },
      };
    },
    get pending() {
      return [...timers.values()].filter((timer) => timer.held).length;
    },
    async advance(ms) {
      const until = now + ms;
      await settled();
      for (let next = due(until); next !== undefined; next = due(until)) await fire(...next);
      now = until;
    },
    async finish(promise) {
      let settledAlready = false;
      const mark = () => {
        settledAlready = true;
      };
      promise.then(mark, mark);
      while (!settledAlready) {
        await settled();
        const next = due(Number.POSITIVE_INFINITY);
        if (next !== undefined && !settledAlready) await fire(...next);
        else await new Promise((resolve) => setTimeout(resolve, 1)); // what it waits for takes real time
      }
      return promise;
    },
  };
}

/** Long enough for everything that waits for no timer to happen, on every engine. */
async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
}
