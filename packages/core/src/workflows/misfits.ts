import type { Json } from "../schema/json.ts";
import { preview } from "../schema/preview.ts";
import { isEqual } from "./condition.ts";
import { ALL_KINDS, ARRAY, kindsOfValues, kindsText, NULL, OBJECT, TEXT } from "./schema-kinds.ts";
import { ENTRY, isMissing, isPlace, type Key, type Place, SchemaWalk } from "./schema-walk.ts";

/** What is known of a value before it is there. */
export type Source =
  | { readonly kind: "any" }
  /** Just this one; no list and no object. */
  | { readonly kind: "value"; readonly value: Json }
  /** Some text. */
  | { readonly kind: "text" }
  /** Whatever fits a schema. */
  | {
      readonly kind: "schema";
      readonly place: Place;
      readonly from: string | undefined;
      /** Or null, when it is not there. */
      readonly orNull: boolean;
    }
  | { readonly kind: "object"; readonly entries: ReadonlyMap<string, Source> }
  | { readonly kind: "list"; readonly entries: readonly Source[] };

/** Something that cannot be right. */
export interface Misfit {
  /** Where in what was written. */
  readonly at: readonly (string | number)[];
  readonly allowed: string;
  readonly given: string;
  /** A key that nobody asked for, and those that are. */
  readonly unknown?: readonly string[];
}

const MOST_MISFITS = 50;
const MOST_DEPTH = 20;
const SHOWN_VALUES = 8;
const NAMED_KEYS = 100;

/** Everything about a value that certainly does not fit a schema. Where it may fit, nothing. */
export function misfitsOf(source: Source, target: Place, walk = new SchemaWalk()): readonly Misfit[] {
  const fitting = new Fitting(walk);
  fitting.fit(source, target, { at: [], within: "", depth: 0 });
  return fitting.found;
}

/** The kinds of values a source may be. */
export function kindsOf(source: Source, walk = new SchemaWalk()): number {
  return new Fitting(walk).kinds(source);
}

interface Spot {
  /** Where in what was written. */
  readonly at: readonly (string | number)[];
  /** And where in what comes from elsewhere. */
  readonly within: string;
  readonly depth: number;
}

class Fitting {
  readonly found: Misfit[] = [];
  readonly #walk: SchemaWalk;

  constructor(walk: SchemaWalk) {
    this.#walk = walk;
  }

  fit(source: Source, target: Place, spot: Spot): void {
    if (source.kind === "any" || spot.depth > MOST_DEPTH || this.found.length >= MOST_MISFITS) return;
    const allowed = this.#walk.kinds(target);
    const common = this.kinds(source) & allowed;
    const values = this.#walk.values(target);
    const allowedText = values === undefined ? kindsText(allowed) : oneOf(values);
    if (common === 0 || (values !== undefined && this.#isNoneOf(source, values)))
      this.#tell(spot, allowedText, this.#given(source));
    else if (source.kind === "object") this.#entries(source.entries, target, spot);
    else if (source.kind === "list") this.#list(source.entries, target, spot);
    else if (source.kind === "schema" && common === OBJECT) this.#properties(source, target, spot);
    else if (source.kind === "schema" && common === ARRAY) this.#part(source, target, ENTRY, spot);
  }

  kinds(source: Source): number {
    switch (source.kind) {
      case "any":
        return ALL_KINDS;
      case "value":
        return kindsOfValues([source.value]);
      case "text":
        return TEXT;
      case "schema":
        return this.#walk.kinds(source.place) | (source.orNull ? NULL : 0);
      case "object":
        return OBJECT;
      case "list":
        return ARRAY;
    }
  }

  #isNoneOf(source: Source, allowed: readonly Json[]): boolean {
    const given =
      source.kind === "value"
        ? [source.value]
        : source.kind === "schema"
          ? this.#walk.values(source.place)
          : undefined;
    if (given === undefined || (source.kind === "schema" && source.orNull && allowed.includes(null)))
      return false;
    return !given.some((one) => allowed.some((other) => isEqual(one, other)));
  }

  /** An object as it is written: each key of it is known. */
  #entries(entries: ReadonlyMap<string, Source>, target: Place, spot: Spot): void {
    for (const key of this.#walk.required(target)) {
      if (entries.has(key)) continue;
      const wanted = this.#walk.step(target, key);
      const kinds = isPlace(wanted) ? this.#walk.kinds(wanted) : ALL_KINDS;
      this.#tell(inside(spot, key), kinds === ALL_KINDS ? "a value" : kindsText(kinds), "nothing given");
    }
    for (const [key, entry] of entries) {
      const wanted = this.#walk.step(target, key);
      if (isPlace(wanted)) this.fit(entry, wanted, inside(spot, key));
      else if (isMissing(wanted)) this.#unknown(inside(spot, key), key, target);
    }
  }

  #list(entries: readonly Source[], target: Place, spot: Spot): void {
    for (const [i, entry] of entries.entries()) {
      if (this.found.length >= MOST_MISFITS) break;
      const wanted = this.#walk.step(target, i);
      if (isPlace(wanted)) this.fit(entry, wanted, inside(spot, i));
      if (!isMissing(wanted)) continue;
      this.#tell(inside(spot, i), `no more (${wanted.missing})`, "one more given");
      break;
    }
  }

  /** An object that comes from elsewhere: only what must be there, on either side, is certain. */
  #properties(source: Source & { kind: "schema" }, target: Place, spot: Spot): void {
    const wanted = this.#walk.required(target);
    for (const key of wanted) {
      const given = this.#walk.step(source.place, key);
      if (isMissing(given))
        this.#tell(spot, `an object with ${JSON.stringify(key)}`, `one without it ${comesFrom(source.from)}`);
      else this.#part(source, target, key, spot);
    }
    for (const key of this.#walk.required(source.place))
      if (!wanted.has(key)) this.#part(source, target, key, spot);
  }

  #part(source: Source & { kind: "schema" }, target: Place, key: Key, spot: Spot): void {
    const given = this.#walk.step(source.place, key);
    const wanted = this.#walk.step(target, key);
    if (!isPlace(given) || !isPlace(wanted)) return;
    const step = key === ENTRY ? "[]" : `.${String(key)}`;
    const from = source.from === undefined ? undefined : source.from + step;
    const deeper = { at: spot.at, within: spot.within + step, depth: spot.depth + 1 };
    this.fit({ kind: "schema", place: given, from, orNull: false }, wanted, deeper);
  }

  #unknown(spot: Spot, key: string, target: Place): void {
    const unknown = [...this.#walk.keys(target)].slice(0, NAMED_KEYS);
    this.found.push({ at: spot.at, allowed: "a key it knows", given: JSON.stringify(key), unknown });
  }

  #tell(spot: Spot, allowed: string, given: string): void {
    if (this.found.length >= MOST_MISFITS) return;
    const where = spot.within === "" ? "" : ` at ${spot.within.replace(/^\./, "")}`;
    this.found.push({ at: spot.at, allowed: allowed + where, given });
  }

  #given(source: Source): string {
    switch (source.kind) {
      case "value":
        return `${preview(source.value)} given`;
      case "schema": {
        const values = this.#walk.values(source.place);
        const what = values === undefined ? kindsText(this.kinds(source)) : oneOf(values);
        return `${what} ${comesFrom(source.from)}`;
      }
      default:
        return `${kindsText(this.kinds(source))} given`;
    }
  }
}

function inside({ at, within, depth }: Spot, key: string | number): Spot {
  return { at: [...at, key], within, depth: depth + 1 };
}

function comesFrom(from: string | undefined): string {
  return from === undefined ? "given" : `comes from ${from}`;
}

function oneOf(values: readonly Json[]): string {
  const shown = values.slice(0, SHOWN_VALUES).map((value) => preview(value));
  return (
    shown.join(" or ") + (values.length > SHOWN_VALUES ? ` or ${values.length - SHOWN_VALUES} more` : "")
  );
}
