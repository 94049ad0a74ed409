/** So many at a time; the others wait in line. Whoever is done lets the next one in. */
export class Slots {
  #free: number;
  readonly #line: (() => void)[] = [];
  /** Why those that have not begun no longer will. */
  stopped: string | undefined;

  constructor(size: number) {
    this.#free = size;
  }

  async take(): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    await new Promise<void>((resolve) => this.#line.push(resolve));
  }

  free(): void {
    const next = this.#line.shift();
    if (next) next();
    else this.#free += 1;
  }
}
