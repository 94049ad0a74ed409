import { cut, isObject } from "./untrusted-json.ts";

export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

const MAX_MESSAGE = 2_000;
/** More than this is for nobody's eyes: so many at once, and so many a second. */
const BURST = 200;
const PER_SECOND = 50;

/** Progress as a server sent it, or nothing if it is none. */
export function readProgress(update: unknown): Progress | null {
  if (!isObject(update)) return null;
  const { progress, total, message } = update;
  if (typeof progress !== "number" || !Number.isFinite(progress)) return null;
  return {
    progress,
    ...(typeof total === "number" && Number.isFinite(total) ? { total } : {}),
    ...(typeof message === "string" ? { message: cut(message, MAX_MESSAGE) } : {}),
  };
}

/** Hands progress on as it comes. Of a torrent it leaves out what the next makes old; the last is always heard. */
export class ProgressPace {
  readonly #deliver: (update: Progress) => void;
  readonly #now: () => number;
  #left = BURST;
  #at: number;
  #waiting: Progress | undefined;

  constructor(deliver: (update: Progress) => void, now: () => number = () => performance.now()) {
    this.#deliver = deliver;
    this.#now = now;
    this.#at = now();
  }

  offer(update: Progress): void {
    const now = this.#now();
    this.#left = Math.min(BURST, this.#left + ((now - this.#at) * PER_SECOND) / 1000);
    this.#at = now;
    this.#waiting = update;
    if (this.#left < 1) return;
    this.#left -= 1;
    this.flush();
  }

  /** What was left out last. */
  flush(): void {
    const last = this.#waiting;
    this.#waiting = undefined;
    try {
      if (last !== undefined) this.#deliver(last);
    } catch {
      // Whoever watches cannot stop the call.
    }
  }
}
