import type { Probe } from "./probe.ts";
import { Scanner, type Sink } from "./scanner.ts";
import { nextSlice } from "./slices.ts";

/** What a guard looks for in texts, and what it puts in the place of what it found. */
export interface TextRule {
  /** New probes, for one text. */
  probes(): readonly Probe[];
  /** What stands in the place of a match; the match itself where it may stay. */
  replace(value: string, kind: string): string;
  /** Cheap and linear: a text in which it finds nothing holds nothing to find. */
  readonly worth?: RegExp;
}

/** How often each kind of thing was found. */
export type Found = ReadonlyMap<string, number>;

/** Writes a text anew, piece by piece, with what was found in it replaced. */
export class Rewriter implements Sink {
  readonly #rule: TextRule;
  readonly #scanner: Scanner;
  readonly #found: Map<string, number>;
  readonly #out: string[] = [];

  constructor(rule: TextRule, found: Map<string, number> = new Map(), before = "") {
    this.#rule = rule;
    this.#found = found;
    this.#scanner = new Scanner(rule.probes(), this, before);
  }

  push(chunk: string): string {
    this.#scanner.push(chunk);
    return this.#take();
  }

  flush(): string {
    this.#scanner.flush();
    return this.#take();
  }

  get found(): Found {
    return this.#found;
  }

  text(piece: string): void {
    this.#out.push(piece);
  }

  match(value: string, kind: string): void {
    const stands = this.#rule.replace(value, kind);
    if (stands !== value) this.#found.set(kind, (this.#found.get(kind) ?? 0) + 1);
    this.#out.push(stands);
  }

  /** In one piece: a text of many would be put together later, all at once. */
  #take(): string {
    const out = this.#out.join("");
    this.#out.length = 0;
    return out;
  }
}

/** So much is scanned before the clock is looked at. */
const BLOCK = 8192;

/** Rewrites texts, and lets other work have its turn in between. One is made for each thing that is looked through. */
export class Rewriting {
  readonly found = new Map<string, number>();
  readonly #rule: TextRule;
  #sinceLook = 0;

  constructor(rule: TextRule) {
    this.#rule = rule;
  }

  /** `before` is what stands before the text and is only looked at. */
  async text(text: string, before = ""): Promise<string> {
    if (this.#rule.worth?.test(text) === false) return text;
    const rewriter = new Rewriter(this.#rule, this.found, before);
    if (text.length <= BLOCK) {
      const wait = this.spent(text.length);
      if (wait) await wait;
      const start = rewriter.push(text);
      return start + rewriter.flush();
    }
    let out = "";
    for (let at = 0; at < text.length; at += BLOCK) {
      const wait = this.spent(BLOCK);
      if (wait) await wait;
      out += rewriter.push(text.slice(at, at + BLOCK));
    }
    return out + rewriter.flush();
  }

  /** So much is about to be looked at: wait for the promise first, if there is one. */
  spent(length: number): Promise<void> | undefined {
    this.#sinceLook += length;
    if (this.#sinceLook < BLOCK) return undefined;
    this.#sinceLook = 0;
    return nextSlice();
  }
}
