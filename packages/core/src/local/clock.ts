/** Time, as the engine sees it. Tests bring their own. */
export interface Clock {
  /** Unix ms. */
  now(): number;
  /** Calls `run` once after `ms`; the function returned stops that. */
  after(ms: number, run: () => void): () => void;
  /** 0 to 1, for jitter. */
  random(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
};
