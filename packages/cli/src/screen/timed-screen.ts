import { duration } from "./numbers.ts";
import { Screen } from "./screen.ts";

/** Room for `1 min 12 s` and what separates it. */
const MARGIN = 12;

/** A screen with a margin that says when something happened: the time since the start, wherever it changes. */
export class TimedScreen extends Screen {
  #time = "";
  #told = "";
  #atStart = true;

  /** From now on it is this long after the start. */
  at(ms: number): void {
    this.#time = duration(Math.max(0, ms));
  }

  override get width(): number {
    return super.width - MARGIN;
  }

  override write(text: string): void {
    let out = "";
    for (const piece of text.split(/(?<=\n)/)) {
      if (this.#atStart && piece !== "\n") out += this.#margin();
      out += piece;
      this.#atStart = piece.endsWith("\n");
    }
    super.write(out);
  }

  /** What is over waits for nothing. */
  override waitFor(): void {}

  #margin(): string {
    const isNew = this.#time !== this.#told;
    this.#told = this.#time;
    return this.paint("dim", `${(isNew ? this.#time : "").padStart(MARGIN - 2)}  `);
  }
}
