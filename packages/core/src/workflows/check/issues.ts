import { preview } from "../../schema/preview.ts";
import { type ConfigIssue, formatPath, unknownKey } from "../../schema/problems.ts";
import type { Misfit } from "../misfits.ts";
import { nearestName } from "./nearest-name.ts";

export type Path = readonly (string | number)[];

/** Nobody reads more. */
const MOST_ISSUES = 200;
const SHOWN_NAMES = 20;
/** A few thousand names compared with one another. */
const MOST_LETTERS = 2_000_000;

/** What is wrong with a workflow: each thing once, and only so many. */
export class Issues {
  readonly #found = new Map<string, ConfigIssue>();
  readonly #effort = { left: MOST_LETTERS };

  get all(): readonly ConfigIssue[] {
    return [...this.#found.values()];
  }

  get isFull(): boolean {
    return this.#found.size >= MOST_ISSUES;
  }

  isAt(path: string): boolean {
    return this.all.some((found) => found.path === path);
  }

  add(found: ConfigIssue): void {
    if (!this.isFull && !this.#found.has(found.message)) this.#found.set(found.message, found);
  }

  /** What is allowed, and what there is instead, both in words. */
  tell(path: Path, allowed: string, given: string): void {
    const at = formatPath(path);
    this.add({ path: at, given, allowed, message: `${at}: ${allowed} expected, ${given}` });
  }

  /** A value that was written there. */
  refuse(path: Path, allowed: string, given: unknown): void {
    this.tell(path, allowed, `${preview(given)} given`);
  }

  /** A name that belongs to nothing, with the one it is most like. */
  stranger(path: Path, what: string, name: string, known: Iterable<string>): void {
    if (this.isFull) return;
    const names = [...known];
    const near = nearestName(name, names, this.#effort);
    const at = formatPath(path);
    const given = preview(name);
    const hint = near === undefined ? "" : `, did you mean ${preview(near)}?`;
    const allowed = listed(what, names);
    this.add({ path: at, given, allowed, message: `${at}: ${allowed} expected, ${given} given${hint}` });
  }

  misfit(path: Path, { at, allowed, given, unknown }: Misfit): void {
    const whole = [...path, ...at];
    const key = at.at(-1);
    if (unknown !== undefined && typeof key === "string") this.#unknownKey(whole, key, unknown);
    else this.tell(whole, allowed, given);
  }

  #unknownKey(path: Path, key: string, known: readonly string[]): void {
    const near = nearestName(key, known, this.#effort);
    const allowed = listed("a key it takes", known);
    const hint = near === undefined ? `, ${allowed} expected` : `, did you mean \`${near}\`?`;
    const found = unknownKey(formatPath(path), key, []);
    this.add({ ...found, allowed, message: found.message + hint });
  }
}

function listed(what: string, names: readonly string[]): string {
  if (names.length === 0) return `${what} (there are none)`;
  const rest = names.length > SHOWN_NAMES ? ` and ${names.length - SHOWN_NAMES} more` : "";
  return `${what} (${names.slice(0, SHOWN_NAMES).map(shownName).join(", ")}${rest})`;
}

function shownName(name: string): string {
  return preview(name).slice(1, -1);
}
