import type { Clock } from "./clock.ts";

/**
 * Many long deadlines for the price of one timer: a tick every second or so looks at all of them. For bounds that are only
 * there to end a hang, where firing a second late does not matter and arming one must cost almost nothing.
 */
export class Watchdog {
  readonly #clock: Clock;
  readonly #tickMs: number;
  readonly #watched = new Set<Watch>();
  #stopTick: (() => void) | null = null;
  #tick = 0;

  constructor(clock: Clock, tickMs = 1000) {
    this.#clock = clock;
    this.#tickMs = tickMs;
  }

  /** Calls `expire` once when `ms` pass without a `touch`. */
  watch(ms: number, expire: () => void): Watch {
    const watch = new Watch(this, Math.ceil(ms / this.#tickMs), expire);
    this.#watched.add(watch);
    this.#schedule();
    return watch;
  }

  get tick(): number {
    return this.#tick;
  }

  forget(watch: Watch): void {
    this.#watched.delete(watch);
    if (this.#watched.size === 0) {
      this.#stopTick?.();
      this.#stopTick = null;
    }
  }

  #schedule(): void {
    if (this.#stopTick !== null || this.#watched.size === 0) return;
    this.#stopTick = this.#clock.after(this.#tickMs, () => {
      this.#stopTick = null;
      this.#tick += 1;
      for (const watch of this.#watched) watch.look();
      this.#schedule();
    });
  }
}

/** One deadline. */
export class Watch {
  readonly #dog: Watchdog;
  readonly #ticks: number;
  readonly #expire: () => void;
  #since: number;

  constructor(dog: Watchdog, ticks: number, expire: () => void) {
    this.#dog = dog;
    this.#ticks = ticks;
    this.#expire = expire;
    this.#since = dog.tick;
  }

  /** Something happened: the time starts again. */
  touch(): void {
    this.#since = this.#dog.tick;
  }

  stop(): void {
    this.#dog.forget(this);
  }

  look(): void {
    if (this.#dog.tick - this.#since < this.#ticks) return;
    this.stop();
    this.#expire();
  }
}
