/** Time, as the engine sees it. Tests bring their own. */
export interface Clock {
  /** Unix ms. */
  now(): number;
  /** Calls `run` once after `ms`. */
  after(ms: number, run: () => void): Timer;
  /** 0 to 1, for jitter. */
  random(): number;
}

export interface Timer {
  stop(): void;
  /** Whether the process stays alive for it; it does unless told otherwise. */
  hold?(alive: boolean): void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return {
      stop: () => clearTimeout(timer),
      hold: (alive) => {
        if (alive) timer.ref();
        else timer.unref();
      },
    };
  },
  random: () => Math.random(),
};
