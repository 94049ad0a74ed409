import { appendFileSync, existsSync, readFileSync } from "node:fs";
import type { ToolEffect } from "trackside";

/** One thing that happened to the world. */
export interface Entry {
  /** What it was: a tool, a task, an attempt at a model. */
  readonly what: string;
  readonly effect: ToolEffect;
  /** The call it was made for; the ids of runs are taken out of it when entries are compared. */
  readonly call: string;
  readonly key: string;
  readonly args: unknown;
  readonly result: unknown;
}

/**
 * What happened to the world, kept outside the process that dies: one `write` to a file that is only appended to, so an
 * effect has happened whole or not at all, and whoever asks later reads what really did.
 */
export class Ledger {
  readonly #path: string;
  readonly #check: () => void;

  /** `check` throws in a life that is over: it has no effect on the world any more. */
  constructor(path: string, check: () => void = () => {}) {
    this.#path = path;
    this.#check = check;
  }

  enter(entry: Entry): void {
    this.#check();
    appendFileSync(this.#path, `${JSON.stringify(entry)}\n`);
  }

  read(): Entry[] {
    if (!existsSync(this.#path)) return [];
    const lines = readFileSync(this.#path, "utf8").split("\n");
    return lines.slice(0, -1).map((line) => JSON.parse(line));
  }

  /** The outcome of a call that happens once, if it has happened. */
  outcomeOf(call: string): Entry | undefined {
    return this.read().find((entry) => entry.effect === "once" && entry.call === call);
  }
}
