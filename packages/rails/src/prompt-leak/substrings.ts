import { nextSlice } from "../scan/slices.ts";

/** What no text holds: keeps what stands on both sides of it apart. */
const APART = "\uffff";
const BLOCK = 4096;
const NONE = -1;

/**
 * All substrings of some texts, in little more room than the texts themselves (a suffix automaton): character by
 * character it says how much of what was just read stands somewhere in them. State 0 is that of nothing read.
 */
export class Substrings {
  readonly #length: number[] = [0];
  readonly #link: number[] = [NONE];
  /** The edges of a state as a list: its first one; and for each edge its character, where it leads, and the next one. */
  readonly #first: number[] = [NONE];
  readonly #unit: number[] = [];
  readonly #to: number[] = [];
  readonly #after: number[] = [];
  /** Those of state 0, which is asked most often and has most of them. */
  readonly #start = new Int32Array(65536).fill(NONE);
  #last = 0;

  /** From texts that have been folded. */
  static of(texts: readonly string[]): Substrings {
    const made = new Substrings();
    made.#extend(texts.join(APART));
    return made;
  }

  /** The same, a slice at a time. */
  static async inSlices(texts: readonly string[]): Promise<Substrings> {
    const made = new Substrings();
    const all = texts.join(APART);
    for (let at = 0; at < all.length; at += BLOCK) {
      const wait = nextSlice();
      if (wait) await wait;
      made.#extend(all.slice(at, at + BLOCK));
    }
    return made;
  }

  /** Where a state leads with one more character; -1 when that stands nowhere. */
  step(state: number, unit: number): number {
    if (state === 0) return this.#start[unit] ?? NONE;
    const edge = this.#edge(state, unit);
    return edge === NONE ? NONE : (this.#to[edge] ?? NONE);
  }

  /** The state of the longest shorter end of what was read that stands in more places; -1 for state 0. */
  shorter(state: number): number {
    return this.#link[state] ?? NONE;
  }

  /** The longest text a state stands for. */
  length(state: number): number {
    return this.#length[state] ?? 0;
  }

  #edge(state: number, unit: number): number {
    let edge = this.#first[state] ?? NONE;
    while (edge !== NONE && this.#unit[edge] !== unit) edge = this.#after[edge] ?? NONE;
    return edge;
  }

  #lead(state: number, unit: number, to: number): void {
    if (state === 0) {
      this.#start[unit] = to;
      return;
    }
    const edge = this.#edge(state, unit);
    if (edge !== NONE) {
      this.#to[edge] = to;
      return;
    }
    this.#unit.push(unit);
    this.#after.push(this.#first[state] ?? NONE);
    this.#first[state] = this.#to.push(to) - 1;
  }

  #extend(text: string): void {
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      const made = this.#add(this.length(this.#last) + 1);
      let state = this.#last;
      while (state !== NONE && this.step(state, unit) === NONE) {
        this.#lead(state, unit, made);
        state = this.shorter(state);
      }
      this.#link[made] = state === NONE ? 0 : this.#divide(state, this.step(state, unit), unit);
      this.#last = made;
    }
  }

  /** The state that `state` leads to, made one of its own when it stands for longer texts too. */
  #divide(state: number, led: number, unit: number): number {
    if (this.length(state) + 1 === this.length(led)) return led;
    const copy = this.#add(this.length(state) + 1);
    for (let edge = this.#first[led] ?? NONE; edge !== NONE; edge = this.#after[edge] ?? NONE) {
      this.#lead(copy, this.#unit[edge] ?? 0, this.#to[edge] ?? NONE);
    }
    this.#link[copy] = this.shorter(led);
    this.#link[led] = copy;
    for (let from = state; from !== NONE && this.step(from, unit) === led; from = this.shorter(from)) {
      this.#lead(from, unit, copy);
    }
    return copy;
  }

  #add(length: number): number {
    this.#link.push(0);
    this.#first.push(NONE);
    return this.#length.push(length) - 1;
  }
}
