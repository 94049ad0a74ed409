import type { CharSet } from "./char-set.ts";
import { pointAt, widthOf } from "./code-points.ts";
import type { Meter } from "./meter.ts";
import { type Edge, type Pattern, parsePattern } from "./parse-pattern.ts";
import { isWord } from "./pattern-class.ts";

const MAX_CHARS = 500;
const MAX_STATES = 2000;

type Instruction =
  | { readonly op: "char"; readonly set: CharSet }
  | { readonly op: "edge"; readonly edge: Edge }
  | { op: "split"; one: number; other: number }
  | { op: "jump"; to: number }
  | { readonly op: "match" };

/**
 * A regular expression that follows all its ways at once instead of going back: a text of n characters takes at most n
 * times as many steps as it has states. It finds what JavaScript's would with the flag `u`, or is refused.
 */
export class SafePattern {
  readonly source: string;
  readonly #program: readonly Instruction[];

  private constructor(source: string, program: readonly Instruction[]) {
    this.source = source;
    this.#program = program;
  }

  get states(): number {
    return this.#program.length;
  }

  static read(source: string): { ok: true; pattern: SafePattern } | { ok: false; problem: string } {
    if (source.length > MAX_CHARS)
      return { ok: false, problem: `it is longer than ${MAX_CHARS} characters (${source.length})` };
    const parsed = parsePattern(source);
    if (!parsed.ok) return parsed;
    if (sizeOf(parsed.pattern) > MAX_STATES) {
      const problem = `its repetitions add up to more than ${MAX_STATES} states; use minLength and maxLength for lengths`;
      return { ok: false, problem };
    }
    const program: Instruction[] = [];
    write(parsed.pattern, program);
    program.push({ op: "match" });
    return { ok: true, pattern: new SafePattern(source, program) };
  }

  /** Whether it matches anywhere in a text. False as well when the meter runs out, which the meter then says. */
  test(text: string, meter: Meter): boolean {
    const run = new Run(this.#program, text, meter);
    for (let at = 0; ; ) {
      run.begin(at);
      if (run.matched) return true;
      if (at >= text.length || meter.spent) return false;
      at = run.step(at);
    }
  }
}

/** One pass over a text: the states it may be in, all at the same place. */
class Run {
  matched = false;
  readonly #program: readonly Instruction[];
  readonly #text: string;
  readonly #meter: Meter;
  #states: number[] = [];
  /** By state, the place it was last entered at, so that it is entered once. */
  readonly #entered: number[];

  constructor(program: readonly Instruction[], text: string, meter: Meter) {
    this.#program = program;
    this.#text = text;
    this.#meter = meter;
    this.#entered = new Array<number>(program.length).fill(-1);
    meter.spend(program.length / 16);
  }

  /** A match may begin here. */
  begin(at: number): void {
    this.#enter(0, at);
  }

  /** Takes the code point here and answers where the next one is. */
  step(at: number): number {
    const point = pointAt(this.#text, at);
    const next = at + widthOf(point);
    const states = this.#states;
    this.#states = [];
    for (const state of states) {
      const instruction = this.#program[state];
      if (instruction?.op !== "char") continue;
      if (!this.#meter.spend(instruction.set.cost)) return next;
      if (instruction.set.has(point)) this.#enter(state + 1, next);
    }
    return next;
  }

  /** Enters a state and all that follow from it without a character. */
  #enter(first: number, at: number): void {
    const open = [first];
    for (let state = open.pop(); state !== undefined; state = open.pop()) {
      if (this.#entered[state] === at) continue;
      this.#entered[state] = at;
      if (!this.#meter.spend()) return;
      const instruction = this.#program[state];
      if (instruction === undefined) continue;
      if (instruction.op === "char") this.#states.push(state);
      else if (instruction.op === "split") open.push(instruction.other, instruction.one);
      else if (instruction.op === "jump") open.push(instruction.to);
      else if (instruction.op === "match") this.matched = true;
      else if (this.#isAt(instruction.edge, at)) open.push(state + 1);
    }
  }

  #isAt(edge: Edge, at: number): boolean {
    if (edge === "start") return at === 0;
    if (edge === "end") return at === this.#text.length;
    // Letters of words are single units, so that half a character can be taken for none of them.
    const before = at > 0 && isWord(this.#text.charCodeAt(at - 1));
    const after = at < this.#text.length && isWord(this.#text.charCodeAt(at));
    return (before !== after) === (edge === "word");
  }
}

/** How many states a pattern takes, counted before any is made: counts multiply. */
function sizeOf(pattern: Pattern): number {
  switch (pattern.kind) {
    case "char":
    case "edge":
      return 1;
    case "sequence":
      return pattern.parts.reduce((sum, part) => sum + sizeOf(part), 0);
    case "either":
      return pattern.forms.reduce((sum, form) => sum + sizeOf(form) + 2, 0);
    case "repeat": {
      const size = sizeOf(pattern.inner);
      const unbounded = pattern.max === Number.POSITIVE_INFINITY;
      // Every copy counts for one at least: a billion times nothing is a billion turns of a loop.
      const copies = Math.max(size, 1);
      return unbounded
        ? (pattern.min + 1) * copies + 2
        : pattern.min * copies + (pattern.max - pattern.min) * (copies + 1);
    }
  }
}

function write(pattern: Pattern, program: Instruction[]): void {
  switch (pattern.kind) {
    case "char":
      program.push({ op: "char", set: pattern.set });
      return;
    case "edge":
      program.push({ op: "edge", edge: pattern.edge });
      return;
    case "sequence":
      for (const part of pattern.parts) write(part, program);
      return;
    case "either":
      writeForms(pattern.forms, program);
      return;
    case "repeat":
      writeRepeat(pattern.inner, pattern.min, pattern.max, program);
  }
}

function writeForms(forms: readonly Pattern[], program: Instruction[]): void {
  const ends: { op: "jump"; to: number }[] = [];
  for (const [i, form] of forms.entries()) {
    const split: Instruction | undefined =
      i < forms.length - 1 ? { op: "split", one: program.length + 1, other: 0 } : undefined;
    if (split) program.push(split);
    write(form, program);
    if (split === undefined) break;
    const end: { op: "jump"; to: number } = { op: "jump", to: 0 };
    ends.push(end);
    program.push(end);
    if (split.op === "split") split.other = program.length;
  }
  for (const end of ends) end.to = program.length;
}

function writeRepeat(inner: Pattern, min: number, max: number, program: Instruction[]): void {
  for (let i = 0; i < min; i++) write(inner, program);
  if (max === Number.POSITIVE_INFINITY) {
    const split = { op: "split" as const, one: program.length + 1, other: 0 };
    program.push(split);
    write(inner, program);
    program.push({ op: "jump", to: program.indexOf(split) });
    split.other = program.length;
    return;
  }
  const splits = Array.from({ length: max - min }, () => {
    const split = { op: "split" as const, one: program.length + 1, other: 0 };
    program.push(split);
    write(inner, program);
    return split;
  });
  for (const split of splits) split.other = program.length;
}
