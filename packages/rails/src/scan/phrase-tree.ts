/** Many phrases looked for at once, in one pass: the automaton of Aho and Corasick. */
export class PhraseTree {
  readonly #next: Map<number, number>[] = [new Map()];
  readonly #fail: number[] = [0];
  readonly #depth: number[] = [0];
  /** The phrases that end at a node, as indexes. */
  readonly #ends: number[][] = [[]];
  /** For every UTF-16 unit, whether a phrase starts with it. */
  readonly #first = new Uint8Array(65536);
  readonly root = 0;

  constructor(phrases: readonly string[]) {
    for (const [i, phrase] of phrases.entries()) this.#add(phrase, i);
    this.#link();
    for (const unit of this.#next[0]?.keys() ?? []) this.#first[unit] = 1;
  }

  /** Whether a phrase starts with this. */
  starts(unit: number): boolean {
    return this.#first[unit] === 1;
  }

  step(node: number, unit: number): number {
    let at = node;
    for (;;) {
      const next = this.#next[at]?.get(unit);
      if (next !== undefined) return next;
      if (at === 0) return 0;
      at = this.#fail[at] ?? 0;
    }
  }

  /** How much of a phrase has been seen. */
  depth(node: number): number {
    return this.#depth[node] ?? 0;
  }

  /** The longest shorter beginning of a phrase that has been seen too. */
  shorter(node: number): number {
    return this.#fail[node] ?? 0;
  }

  /** The phrases that have just been seen in full. */
  endsAt(node: number): readonly number[] {
    return this.#ends[node] ?? [];
  }

  #add(phrase: string, index: number): void {
    let node = 0;
    for (let i = 0; i < phrase.length; i++) {
      const unit = phrase.charCodeAt(i);
      let next = this.#next[node]?.get(unit);
      if (next === undefined) {
        next = this.#next.length;
        this.#next.push(new Map());
        this.#fail.push(0);
        this.#ends.push([]);
        this.#depth.push(i + 1);
        this.#next[node]?.set(unit, next);
      }
      node = next;
    }
    this.#ends[node]?.push(index);
  }

  #link(): void {
    const queue = [...(this.#next[0]?.values() ?? [])];
    for (let i = 0; i < queue.length; i++) {
      const node = queue[i] ?? 0;
      for (const [unit, child] of this.#next[node] ?? []) {
        this.#fail[child] = this.step(this.#fail[node] ?? 0, unit);
        this.#ends[child] = [...(this.#ends[child] ?? []), ...this.endsAt(this.#fail[child] ?? 0)];
        queue.push(child);
      }
    }
  }
}
