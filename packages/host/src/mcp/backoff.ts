import { setTimeout as wait } from "node:timers/promises";

const FIRST_MS = 500;
const LAST_MS = 30_000;

/**
 * How long to leave a server alone that keeps failing. The first time after a success it is tried again at once; then
 * after half a second and ever longer, never at the same moment as everybody else.
 */
export class Backoff {
  #failures = 0;
  #notBefore = 0;

  failed(): void {
    this.#failures += 1;
    if (this.#failures < 2) return;
    const delay = Math.min(LAST_MS, FIRST_MS * 2 ** (this.#failures - 2));
    this.#notBefore = performance.now() + delay * (0.5 + Math.random() / 2);
  }

  succeeded(): void {
    this.#failures = 0;
    this.#notBefore = 0;
  }

  get isWaiting(): boolean {
    return this.#notBefore > performance.now();
  }

  /** Waits until it may be tried again. */
  async turn(signal: AbortSignal): Promise<void> {
    const ms = this.#notBefore - performance.now();
    if (ms > 0) await wait(ms, undefined, { signal });
  }
}
