import type { Message } from "../../schema/message.ts";
import type { LogEntry, Projection } from "../../schema/projection.ts";
import { appendRendered, type Rendered } from "../render.ts";
import { walk } from "./project.ts";

/** A log as providers take it, under one projection. It only grows, so a step costs what the step added (H5). */
export class Rendering {
  readonly projection: Projection | null;
  readonly rendered: Rendered[] = [];
  /** How many messages were there before each position. */
  readonly #lengths: number[] = [];
  #to = 0;
  #last: Message["role"] | undefined;

  constructor(projection: Projection | null) {
    this.projection = projection;
  }

  get to(): number {
    return this.#to;
  }

  advance(entries: readonly LogEntry[], to: number): void {
    walk(entries, this.#to, to, this.projection, (message, at) => {
      this.#mark(at + 1);
      appendRendered(this.rendered, message, this.#last);
      this.#last = message.role;
    });
    this.#mark(to);
    this.#to = Math.max(this.#to, to);
  }

  /** How many messages the log renders to before a position. */
  lengthAt(position: number): number {
    return this.#lengths[position] ?? this.rendered.length;
  }

  #mark(to: number): void {
    while (this.#lengths.length < to) this.#lengths.push(this.rendered.length);
  }
}

/** How large a log is under one projection, by one way of counting. It only grows, too (B6). */
export class Tally {
  readonly projection: Projection | null;
  readonly #count: (message: Message) => number;
  /** What was counted, and what it came to: whoever makes the log smaller need not count it again. */
  readonly #counted: Message[] = [];
  readonly #sizes: number[] = [];
  #to = 0;
  #tokens = 0;

  constructor(projection: Projection | null, count: (message: Message) => number) {
    this.projection = projection;
    this.#count = count;
  }

  get to(): number {
    return this.#to;
  }

  advance(entries: readonly LogEntry[], to: number): number {
    walk(entries, this.#to, to, this.projection, (message) => {
      const size = this.#count(message);
      this.#counted.push(message);
      this.#sizes.push(size);
      this.#tokens += size;
    });
    this.#to = Math.max(this.#to, to);
    return this.#tokens;
  }

  sizes(): Map<Message, number> {
    return new Map(this.#counted.map((message, i) => [message, this.#sizes[i] ?? 0]));
  }
}
