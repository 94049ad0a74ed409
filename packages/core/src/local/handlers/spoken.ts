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

  /** Puts it into what the loop is told. */
  into<T extends { verdicts?: readonly Verdict[]; passed?: number }>(out: T): T {
    if (this.#verdicts !== undefined) out.verdicts = this.#verdicts;
    if (this.#passed > 0) out.passed = this.#passed;
    return out;
  }
}
