/** Counts the work a check takes, so that it ends whatever the schema and the value. */
export class Meter {
  #left: number;

  constructor(steps: number) {
    this.#left = steps;
  }

  /** Whether there is still so much to spend. Once it is not, it never is again. */
  spend(steps = 1): boolean {
    this.#left = steps > this.#left ? -1 : this.#left - steps;
    return this.#left >= 0;
  }

  get spent(): boolean {
    return this.#left < 0;
  }

  /** Ends the check: it went too deep. */
  exhaust(): void {
    this.#left = -1;
  }
}
