import type { Verdict } from "../../schema/verdict.ts";

/** Collects what the rails around one effect said. */
export class Spoken {
  #verdicts: Verdict[] | undefined;
  #passed = 0;

  add(verdict: Verdict | undefined, passed: number): void {
    if (verdict === undefined) {
      this.#passed += passed;
      return;
    }
    this.#verdicts ??= [];
    this.#verdicts.push(verdict);
  }

  get out(): { verdicts?: readonly Verdict[]; passed?: number } {
    return {
      ...(this.#verdicts === undefined ? {} : { verdicts: this.#verdicts }),
      ...(this.#passed === 0 ? {} : { passed: this.#passed }),
    };
  }
}
