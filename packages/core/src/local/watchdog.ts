import type { Clock, Timer } from "./clock.ts";

/**
 * Many long deadlines for the price of one timer: a tick every second or so looks at all of them. For bounds that are only
 * there to end a hang, where firing a second late does not matter and arming one must cost almost nothing.
 */
export class Watchdog {
  readonly #clock: Clock;
  readonly #tickMs: number;
  readonly #watched = new Set<Watch>();
  #timer: Timer | null = null;
  #tick = 0;

  constructor(clock: Clock, tickMs = 1000) {
    this.#clock = clock;
    this.#tickMs = tickMs;
  }

  /** Calls `expire` once when `ms` pass without a `touch`. */
  watch(ms: number, expire: () => void): Watch {
    const watch = new Watch(this, this.ticks(ms), expire);
    if (this.#watched.size === 0) this.#wake();
    this.#watched.add(watch);
    return watch;
  }

  get tick(): number {
    return this.#tick;
  }

  ticks(ms: number): number {
    return Math.ceil(ms / this.#tickMs) + 1; // the tick under way is not a whole one
  }

  forget(watch: Watch): void {
    // The timer runs on for a tick, since the next watch is rarely far, but no longer keeps the process alive.
    if (this.#watched.delete(watch) && this.#watched.size === 0) this.#timer?.hold?.(false);
  }

  #wake(): void {
    if (this.#timer === null) this.#timer = this.#clock.after(this.#tickMs, () => this.#look());
    else this.#timer.hold?.(true);
  }

  #look(): void {
    this.#timer = null;
    this.#tick += 1;
    for (const watch of this.#watched) watch.look();
    if (this.#watched.size > 0) this.#wake();
  }
}

/** One deadline. */
export class Watch {
  readonly #dog: Watchdog;
  #ticks: number;
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

  /** From now on it may take this long. */
  bound(ms: number): void {
    this.#ticks = this.#dog.ticks(ms);
    this.touch();
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
