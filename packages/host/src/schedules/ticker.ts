import type { Clock } from "trackside";
import type { Timer } from "trackside/engine";

export interface TickerInit {
  readonly clock: Clock;
  /** Does what is due and answers when to look again; undefined when nothing is planned. */
  readonly look: (clockWentBack: boolean) => Promise<number | undefined>;
  /** Told once, until a look has worked again. */
  readonly onError: (error: unknown) => void;
}

/** What other processes plan is seen within this time. */
const LONGEST_MS = 60_000;
/** After a failure; twice as long after each further one. */
const FAILED_MS = 1_000;
/** Clocks are corrected by a little all the time. */
const WENT_BACK_MS = 2_000;

/** Looks when the next thing is due: one timer, and nothing in between. */
export class Ticker {
  readonly #init: TickerInit;
  #timer: Timer | undefined;
  #looking: Promise<void> | undefined;
  #lookAgain = false;
  #isOn = false;
  #seen = Number.NEGATIVE_INFINITY;
  #failures = 0;

  constructor(init: TickerInit) {
    this.#init = init;
  }

  start(): void {
    if (this.#isOn) return;
    this.#isOn = true;
    this.wake();
  }

  /** Something has changed. Never waits and never throws. */
  wake(): void {
    if (!this.#isOn) return;
    if (this.#looking !== undefined) {
      this.#lookAgain = true;
      return;
    }
    this.#timer?.stop();
    this.#looking = this.#look();
  }

  async stop(): Promise<void> {
    this.#isOn = false;
    this.#timer?.stop();
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { clock, look, onError } = this.#init;
    let wait: number;
    try {
      const now = clock.now();
      const wentBack = now < this.#seen - WENT_BACK_MS;
      this.#seen = now;
      const next = await look(wentBack);
      const left = next === undefined ? LONGEST_MS : next - clock.now();
      wait = Math.min(LONGEST_MS, Math.max(0, left));
      this.#failures = 0;
    } catch (error) {
      if (this.#failures === 0) onError(error);
      wait = Math.min(LONGEST_MS, FAILED_MS * 2 ** Math.min(this.#failures, 10));
      this.#failures += 1;
    }
    this.#looking = undefined;
    if (!this.#isOn) return;
    if (this.#lookAgain) {
      this.#lookAgain = false;
      this.wake();
      return;
    }
    this.#timer = clock.after(wait, () => this.wake());
    this.#timer.hold?.(false);
  }
}
