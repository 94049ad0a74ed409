import type { Json, JsonObject } from "../../schema/json.ts";
import { preview } from "../../schema/preview.ts";
import { formatPath } from "../../schema/problems.ts";
import { Meter } from "./meter.ts";

/** One demand of a schema. Says what is wrong through `checking` and answers whether it is met. */
export type Rule = (value: Json, at: Place, checking: Checking) => boolean;

/** A schema made ready. */
export interface Schema {
  readonly rules: Rule[];
  /** Schemas it holds against the very same value: a circle of these would never end. */
  readonly inPlace: Schema[];
}

/** Where in a value, from the inside out. */
export interface Place {
  readonly key: string | number;
  readonly around: Place | null;
  readonly depth: number;
}

/** What is wrong at a place. Written out only when it is told: most problems belong to forms that were merely tried. */
export interface Problem {
  readonly at: Place;
  /** What is allowed, or, where nothing was `given`, the whole sentence. */
  readonly text: string;
  readonly given?: Json;
}

/** About half a second of work. */
const MAX_STEPS = 2_000_000;
const MAX_NESTING = 400;
const MAX_PROBLEMS = 5;
const PROBLEM_STEPS = 10;
const SHOWN_PATH = 200;

export const ROOT: Place = { key: "", around: null, depth: 0 };

export function inside(around: Place, key: string | number): Place {
  return { key, around, depth: around.depth + 1 };
}

/** One check of one value. Whatever it does is on its meter, and once that has run out, its answers mean nothing. */
export class Checking {
  readonly meter = new Meter(MAX_STEPS);
  problems: Problem[] = [];
  #nesting = 0;
  readonly #keys = new Map<JsonObject, readonly string[]>();

  fits(schema: Schema, value: Json, at: Place): boolean {
    if (!this.meter.spend()) return false;
    if (++this.#nesting > MAX_NESTING) this.meter.exhaust();
    let fits = true;
    for (const rule of schema.rules) {
      if (!this.meter.spend() || !rule(value, at, this)) fits = false;
      if (!fits && this.isFull) break;
    }
    this.#nesting--;
    return fits;
  }

  /** The same, and what is wrong goes to a list of its own. */
  tries(schema: Schema, value: Json, at: Place): { fits: boolean; problems: readonly Problem[] } {
    const outer = this.problems;
    this.problems = [];
    const fits = this.fits(schema, value, at);
    const tried = { fits, problems: this.problems };
    this.problems = outer;
    return tried;
  }

  /** The keys of an object, listed once however often it is looked at. */
  keysOf(object: JsonObject): readonly string[] {
    const known = this.#keys.get(object);
    if (known !== undefined) return known;
    const keys = Object.keys(object);
    this.#keys.set(object, keys);
    return keys;
  }

  /** Notes that a value is not what is allowed. Always false, for rules to return. */
  expects(allowed: string, given: Json, at: Place): false {
    return this.#note({ at, text: allowed, given });
  }

  fails(text: string, at: Place): false {
    return this.#note({ at, text });
  }

  /** Takes over what was noted elsewhere. */
  takes(problems: readonly Problem[]): false {
    for (const problem of problems) this.#note(problem);
    return false;
  }

  /** Enough is known to be wrong. */
  get isFull(): boolean {
    return this.problems.length > MAX_PROBLEMS || this.meter.spent;
  }

  /** What is wrong, as one line. */
  told(): string {
    const lines = this.problems.slice(0, MAX_PROBLEMS).map(line);
    return lines.join("; ") + (this.problems.length > MAX_PROBLEMS ? "; and more" : "");
  }

  #note(problem: Problem): false {
    this.meter.spend(PROBLEM_STEPS);
    if (!this.isFull) this.problems.push(problem);
    return false;
  }
}

function line({ at, text, given }: Problem): string {
  const path: (string | number)[] = [];
  for (let place = at; place.around !== null; place = place.around) path.unshift(place.key);
  const whole = formatPath(path);
  const shown = whole.length > SHOWN_PATH ? `…${whole.slice(-SHOWN_PATH)}` : whole;
  const sentence = given === undefined ? text : `${text} expected, ${preview(given)} given`;
  return path.length === 0 ? sentence : `${shown}: ${sentence}`;
}
