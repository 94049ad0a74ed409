import type { Clock, Timer } from "./clock.ts";

/**
 * Many long deadlines for the price of one timer: a tick every second or so looks at all of them. For bounds that are only
 * there to end a hang, where firing a second late does not matter and arming one must cost almost nothing.
 */
export class Watchdog {
  readonly #clock: Clock;
  readonly #tickMs: number;
  /** A list through the watches themselves: arming and stopping one is a few assignments. */
  #first: Watch | undefined;
  #timer: Timer | null = null;
  #tick = 0;

  constructor(clock: Clock, tickMs = 1000) {
    this.#clock = clock;
    this.#tickMs = tickMs;
  }

  /** Tells `owner` once when `ms` pass without a `touch`. */
  watch(ms: number, owner: Watched): Watch {
    const watch = new Watch(this, this.ticks(ms), owner);
    const first = this.#first;
    if (first === undefined) this.#wake();
    else first.before = watch;
    watch.after = first;
    this.#first = watch;
    return watch;
  }

  get tick(): number {
    return this.#tick;
  }

  ticks(ms: number): number {
    return Math.ceil(ms / this.#tickMs) + 1; // the tick under way is not a whole one
  }

  forget(watch: Watch): void {
    const { before, after } = watch;
    if (before !== undefined) before.after = after;
    else if (this.#first === watch) this.#first = after;
    else return; // no longer watched
    if (after !== undefined) after.before = before;
    watch.before = undefined;
    watch.after = undefined;
    // The timer runs on for a tick, since the next watch is rarely far, but no longer keeps the process alive.
    if (this.#first === undefined) this.#timer?.hold?.(false);
  }

  #wake(): void {
    if (this.#timer === null) this.#timer = this.#clock.after(this.#tickMs, () => this.#look());
    else this.#timer.hold?.(true);
  }

  #look(): void {
    this.#timer = null;
    this.#tick += 1;
    const due: Watch[] = [];
    for (let watch = this.#first; watch !== undefined; watch = watch.after) if (watch.due) due.push(watch);
    for (const watch of due) watch.expire();
    if (this.#first !== undefined) this.#wake();
  }
}

/** Whoever is told. */
export interface Watched {
  expired(): void;
}

/** One deadline. */
export class Watch {
  before: Watch | undefined;
  after: Watch | undefined;
  readonly #dog: Watchdog;
  #ticks: number;
  readonly #owner: Watched;
  #since: number;

  constructor(dog: Watchdog, ticks: number, owner: Watched) {
    this.#dog = dog;
    this.#ticks = ticks;
    this.#owner = owner;
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

  get due(): boolean {
    return this.#dog.tick - this.#since >= this.#ticks;
  }

  expire(): void {
    if (!this.due) return; // touched by what expired before it
    this.stop();
    this.#owner.expired();
  }
}
