import { TracksideError } from "trackside";

/** How long a request may take, and why it was given up. */
export class Deadlines {
  readonly #limits: { readonly connectMs: number; readonly idleMs: number };
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #total: NodeJS.Timeout | undefined;
  #phase: NodeJS.Timeout | undefined;

  constructor(
    limits: { readonly connectMs: number; readonly idleMs: number; readonly totalMs: number },
    caller: AbortSignal | undefined,
  ) {
    this.#limits = limits;
    this.#caller = caller;
    caller?.addEventListener("abort", this.#byCaller, { once: true });
    this.#total = this.#after(limits.totalMs, "the whole answer was to take");
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** From now on it has to be connected soon. */
  connecting(): void {
    clearTimeout(this.#phase);
    this.#phase = this.#after(this.#limits.connectMs, "connecting was to take");
  }

  /** Something came: from now on the next may take its time. */
  touch(): void {
    clearTimeout(this.#phase);
    this.#phase = this.#after(this.#limits.idleMs, "the next byte was to take");
  }

  /** Waits for work that cannot be told to stop, as long as there is time. */
  during<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const stop = () => reject(this.signal.reason);
      if (this.signal.aborted) stop();
      this.signal.addEventListener("abort", stop, { once: true });
      work.then(resolve, reject).finally(() => this.signal.removeEventListener("abort", stop));
    });
  }

  /** The error for whoever asked: their own reason, what was refused, or what `fetch` says of a connection that failed. */
  reason(error: unknown): unknown {
    if (this.#caller?.aborted) return this.#caller.reason;
    const cause = this.signal.aborted ? this.signal.reason : error;
    const ours = cause instanceof TracksideError && REFUSALS.has(cause.code);
    return ours || cause instanceof TypeError ? cause : new TypeError("fetch failed", { cause });
  }

  /** It came to its end. */
  over(): void {
    clearTimeout(this.#phase);
    clearTimeout(this.#total);
    this.#caller?.removeEventListener("abort", this.#byCaller);
  }

  /** It is given up, and what is still open is closed. */
  abandon(why: unknown): void {
    this.over();
    this.#controller.abort(why);
  }

  readonly #byCaller = (): void => this.abandon(this.#caller?.reason);

  #after(ms: number, what: string): NodeJS.Timeout | undefined {
    if (!Number.isFinite(ms)) return undefined;
    const late = () =>
      this.abandon(new TracksideError("request_timeout", `Too slow: ${what} at most ${ms} ms.`));
    return setTimeout(late, ms).unref();
  }
}

/** What trying again does not help against. */
const REFUSALS = new Set(["url_refused", "response_too_large"]);
