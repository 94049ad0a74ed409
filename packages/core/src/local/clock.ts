/** Time, as the engine sees it. Tests bring their own. */
export interface Clock {
  /** Unix ms. */
  now(): number;
  /** Calls `run` once after `ms`. */
  after(ms: number, run: () => void): Timer;
  /** 0 to 1, for jitter. */
  random(): number;
  /** The time, good enough to tell how long somebody took; `now()` where it is not there. */
  roughly?(): number;
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
  roughly() {
    // Asked for once in each turn of the event loop: the system's clock costs more than a rail with nothing to say.
    if (rough === 0) {
      rough = Date.now();
      setImmediate(forget);
    }
    return rough;
  },
};

let rough = 0;

function forget(): void {
  rough = 0;
}
