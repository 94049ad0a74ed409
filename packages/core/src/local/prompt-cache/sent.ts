import type { LanguageModelV4FunctionTool } from "@ai-sdk/provider";
import type { Rendered } from "../../context/render.ts";
import type { Pieces } from "../handlers/request.ts";
import { sameBytes } from "./same-bytes.ts";
import { sizeBefore, sizeOf, sizeOfFirst, sizerOf } from "./sizes.ts";

/** A request that rails or hooks changed on its way: what was sent in place of its pieces, and who did it. */
export interface Changed {
  /** Without the system prompt, which stays as it is. */
  readonly messages: readonly Rendered[];
  /** How many of them come before this turn's transient parts. */
  readonly turnAt: number;
  /** `rail <name>` or `hook <name>` */
  readonly by: readonly string[];
}

/** What a request is beside its messages. */
export interface Heading {
  readonly runId: string;
  /** Who has the turn. */
  readonly agent: string;
  /** The model, and its name: `provider:model`. */
  readonly by: object;
  readonly model: string;
  readonly tools: readonly LanguageModelV4FunctionTool[];
  /** The shape the answer has to have. */
  readonly format: unknown;
}

/** Messages of a request that stand together in some list, `from` to `to`. */
interface Stretch {
  readonly of: readonly Rendered[];
  readonly from: number;
  readonly to: number;
  /** The log's: counted once for all requests. */
  readonly isLog?: true;
}

/** A request that was sent: enough of it to say what the next one shares with it. Nothing is copied. */
export class Sent {
  readonly heading: Heading;
  readonly pieces: Pieces;
  readonly changed: Changed | undefined;
  /** Its input tokens by the provider's count; 0 until there is one. */
  reported = 0;
  /** Which of its messages had a cache breakpoint, the system prompt being the first if there is one. */
  marks: readonly number[] = [];
  #before: number | undefined;
  #stretches: readonly Stretch[] | undefined;
  #asked: readonly Stretch[] | undefined;

  constructor(heading: Heading, pieces: Pieces, changed: Changed | undefined) {
    this.heading = heading;
    this.pieces = pieces;
    this.changed = changed;
  }

  /** How many messages it has, without the system prompt. */
  get length(): number {
    if (this.changed) return this.changed.messages.length;
    const { length, inserted, added, aside } = this.pieces;
    return length + inserted.length + added.length + aside.length;
  }

  /** How many of its messages the next step sends too. */
  get lasting(): number {
    return this.changed ? this.length : this.length - this.pieces.added.length;
  }

  /** Its messages as they were sent. */
  get stretches(): readonly Stretch[] {
    if (this.changed === undefined) return this.asked;
    this.#stretches ??= [all(this.changed.messages)];
    return this.#stretches;
  }

  /** Its messages as they were before anybody changed them. */
  get asked(): readonly Stretch[] {
    if (this.#asked === undefined) {
      const { log, at, length, inserted, added, aside } = this.pieces;
      const before = { of: log, from: 0, to: at, isLog: true } as const;
      const behind = { of: log, from: at, to: length, isLog: true } as const;
      this.#asked = [before, all(inserted), behind, all(added), all(aside)];
    }
    return this.#asked;
  }

  /** The tokens before its first message, by estimate. */
  get before(): number {
    const { tools, model } = this.heading;
    this.#before ??= sizeBefore(tools, this.pieces.system?.content, sizerOf(model));
    return this.#before;
  }

  /** The tokens of its messages from one to another, by estimate. */
  size(from: number, to: number): number {
    const sizer = sizerOf(this.heading.model);
    let tokens = 0;
    let start = 0;
    for (const { of, from: first, to: end, isLog } of this.stretches) {
      const a = first + Math.max(0, from - start);
      const b = Math.min(end, first + to - start);
      start += end - first;
      if (a >= b) continue;
      if (isLog) tokens += sizeOfFirst(of, b, sizer) - sizeOfFirst(of, a, sizer);
      else for (const message of of.slice(a, b)) tokens += sizeOf(message, sizer);
    }
    return tokens;
  }

  /** Whether all that comes up to its message number `to` is so many tokens. Looks no further than it has to. */
  reaches(to: number, tokens: number): boolean {
    const sizer = sizerOf(this.heading.model);
    let size = this.before;
    let left = to;
    for (const { of, from, to: end } of this.stretches) {
      for (let i = from; i < end && left > 0 && size < tokens; i++, left--) {
        const message = of[i];
        if (message !== undefined) size += sizeOf(message, sizer);
      }
    }
    return size >= tokens;
  }
}

/** How many messages two requests begin with alike. Where both are in the same list at the same place none is looked at. */
export function commonLength(one: readonly Stretch[], other: readonly Stretch[]): number {
  const a = new Cursor(one);
  const b = new Cursor(other);
  let common = 0;
  while (a.isInside && b.isInside) {
    const same = a.of === b.of && a.at === b.at;
    if (!same && !sameBytes(a.of[a.at], b.of[b.at])) break;
    const steps = same ? Math.min(a.left, b.left) : 1;
    a.go(steps);
    b.go(steps);
    common += steps;
  }
  return common;
}

class Cursor {
  readonly #stretches: readonly Stretch[];
  #stretch = 0;
  of: readonly Rendered[] = [];
  at = 0;
  left = 0;

  constructor(stretches: readonly Stretch[]) {
    this.#stretches = stretches;
    this.#enter();
  }

  get isInside(): boolean {
    return this.#stretch < this.#stretches.length;
  }

  go(steps: number): void {
    this.at += steps;
    this.left -= steps;
    if (this.left > 0) return;
    this.#stretch += 1;
    this.#enter();
  }

  /** Stretches without messages are passed over. */
  #enter(): void {
    for (; this.isInside; this.#stretch++) {
      const { of, from, to } = this.#stretches[this.#stretch] ?? EMPTY;
      this.of = of;
      this.at = from;
      this.left = to - from;
      if (this.left > 0) return;
    }
  }
}

const EMPTY: Stretch = { of: [], from: 0, to: 0 };

function all(of: readonly Rendered[]): Stretch {
  return { of, from: 0, to: of.length };
}
