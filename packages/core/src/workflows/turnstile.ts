/** Lets calls in beside each other, and one that has to be alone when nobody else is in. In the order they come (T6). */
export class Turnstile {
  #inside = 0;
  #isAlone = false;
  readonly #line: { readonly alone: boolean; readonly go: () => void }[] = [];

  async enter(alone: boolean): Promise<void> {
    if (this.#line.length === 0 && this.#mayEnter(alone)) return this.#count(alone);
    await new Promise<void>((resolve) => this.#line.push({ alone, go: resolve }));
  }

  leave(): void {
    this.#inside -= 1;
    this.#isAlone = false;
    for (let next = this.#line[0]; next && this.#mayEnter(next.alone); next = this.#line[0]) {
      this.#line.shift();
      this.#count(next.alone);
      next.go();
    }
  }

  #mayEnter(alone: boolean): boolean {
    return alone ? this.#inside === 0 : !this.#isAlone;
  }

  #count(alone: boolean): void {
    this.#inside += 1;
    this.#isAlone = alone;
  }
}
