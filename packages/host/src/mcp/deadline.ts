/**
 * The time of one call: it ends when nothing was heard for `idleMs`, and after `totalMs` whatever was heard. It stands
 * still while a person is asked, whose time is limited elsewhere.
 */
export class CallDeadline {
  readonly #idleMs: number;
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal;
  readonly #onAbort = () => this.#controller.abort(this.#outer.reason);
  #totalLeft: number;
  #since = performance.now();
  #idle: NodeJS.Timeout | undefined;
  #total: NodeJS.Timeout | undefined;
  #pauses = 0;
  #expired: string | undefined;

  constructor({ idleMs, totalMs }: { idleMs: number; totalMs: number }, outer: AbortSignal) {
    this.#idleMs = idleMs;
    this.#totalLeft = totalMs;
    this.#outer = outer;
    this.#totalMs = totalMs;
    if (outer.aborted) this.#onAbort();
    else outer.addEventListener("abort", this.#onAbort, { once: true });
    this.#run();
  }

  readonly #totalMs: number;

  /** Aborted when the time is over, and when the call is cancelled. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** What ran out, in words. */
  get expired(): string | undefined {
    return this.#expired;
  }

  /** Something was heard of the call. */
  touch(): void {
    if (this.#pauses === 0) this.#idle?.refresh();
  }

  pause(): void {
    this.#pauses += 1;
    if (this.#pauses > 1) return;
    this.#totalLeft -= performance.now() - this.#since;
    this.#stop();
  }

  resume(): void {
    this.#pauses -= 1;
    if (this.#pauses === 0 && !this.signal.aborted) this.#run();
  }

  /** The call is over. */
  end(): void {
    this.#stop();
    this.#pauses = Number.POSITIVE_INFINITY;
    this.#outer.removeEventListener("abort", this.#onAbort);
  }

  #run(): void {
    this.#since = performance.now();
    const seconds = (ms: number) => `${ms / 1000} s`;
    const expire = (what: string) => {
      this.#expired = what;
      this.#stop();
      this.#controller.abort(new Error(what));
    };
    this.#idle = setTimeout(
      () => expire(`nothing was heard of it for ${seconds(this.#idleMs)}`),
      this.#idleMs,
    );
    this.#total = setTimeout(
      () => expire(`it took longer than ${seconds(this.#totalMs)}`),
      Math.max(0, this.#totalLeft),
    );
  }

  #stop(): void {
    clearTimeout(this.#idle);
    clearTimeout(this.#total);
  }
}
