import type { Json, JsonObject } from "../schema/json.ts";
import { short } from "../schema/preview.ts";
import { isList, isObject, own } from "../subagents/untrusted/json-kinds.ts";
import { ALL_KINDS, ARRAY, kindsOfTypes, kindsOfValues, kindsText, NULL, OBJECT } from "./schema-kinds.ts";

/** A schema, and the whole one it is a part of: that is what its `$ref` are looked up in. */
export interface Place {
  readonly schema: Json;
  readonly root: JsonObject;
}

/** Any entry of a list, whichever. */
export const ENTRY: unique symbol = Symbol("entry");
export type Key = string | number | typeof ENTRY;

/**
 * What a schema says of a part of a value: it is like this, it cannot be there, there may be anything (`open`), or it
 * does not say (`unsaid`), which other parts of the same schema then may.
 */
export type Found = Place | { readonly missing: string } | "open" | "unsaid";

const MOST_STEPS = 5_000;
const MOST_DEPTH = 40;
const MOST_VALUES = 200;
const SHOWN_KEYS = 10;

/** How much many walks may do together: a thousand of them may be through the same schema, made to be slow. */
export interface Allowance {
  left: number;
}

/**
 * Looks into JSON Schemas that nobody has vouched for. It does no more than so many steps; what is beyond them, and what
 * it does not understand, is taken to allow anything, since only what is certain is ever told.
 */
export class SchemaWalk {
  #left = MOST_STEPS;
  readonly #allowance: Allowance;

  constructor(allowance: Allowance = { left: MOST_STEPS }) {
    this.#allowance = allowance;
  }

  /** The part of it under a key. */
  step({ schema, root }: Place, key: Key, depth = 0): Found {
    if (!isObject(schema)) return "unsaid";
    if (!this.#goesOn(depth)) return "open";
    const inner = (one: Json): Found => this.step({ schema: one, root }, key, depth + 1);
    const found: Found[] = [ownStep(schema, root, key)];
    const ref = own(schema, "$ref");
    if (ref !== undefined) {
      const target = resolve(ref, root);
      found.push(target === undefined ? "open" : inner(target));
    }
    for (const one of listAt(schema, "allOf")) found.push(inner(one));
    for (const forms of formsOf(schema)) found.push(either(forms.map(inner), root));
    if (CONDITIONAL.some((keyword) => Object.hasOwn(schema, keyword))) found.push("open");
    return both(found, root);
  }

  /** The kinds of values that may fit. */
  kinds({ schema, root }: Place, depth = 0): number {
    if (!isObject(schema) || !this.#goesOn(depth)) return ALL_KINDS;
    const inner = (one: Json): number => this.kinds({ schema: one, root }, depth + 1);
    let kinds = kindsOfTypes(own(schema, "type"));
    const values = ownValues(schema);
    if (values !== undefined) kinds &= kindsOfValues(values);
    const target = resolve(own(schema, "$ref"), root);
    if (target !== undefined) kinds &= inner(target);
    for (const one of listAt(schema, "allOf")) kinds &= inner(one);
    for (const forms of formsOf(schema)) kinds &= forms.reduce<number>((sum, one) => sum | inner(one), 0);
    if (own(schema, "nullable") === true) kinds |= NULL;
    // What nothing fits was not meant so.
    return kinds === 0 ? ALL_KINDS : kinds;
  }

  /** The values that may fit, when they are listed. */
  values({ schema, root }: Place, depth = 0): readonly Json[] | undefined {
    if (!isObject(schema) || !this.#goesOn(depth)) return undefined;
    const inner = (one: Json) => this.values({ schema: one, root }, depth + 1);
    const listed = ownValues(schema);
    if (listed !== undefined) return listed;
    const target = resolve(own(schema, "$ref"), root);
    const parts = [...(target === undefined ? [] : [target]), ...listAt(schema, "allOf")];
    for (const part of parts) {
      const values = inner(part);
      if (values !== undefined) return values;
    }
    for (const forms of formsOf(schema)) {
      const all = forms.map(
        (one) => inner(one) ?? (this.#isNull({ schema: one, root }, depth) ? [null] : undefined),
      );
      const values = all.flatMap((one) => one ?? []);
      if (all.every((one) => one !== undefined) && values.length <= MOST_VALUES) return values;
    }
    return undefined;
  }

  /** The keys that an object must have to fit. */
  required({ schema, root }: Place, depth = 0): ReadonlySet<string> {
    const found = new Set<string>();
    if (!isObject(schema) || !this.#goesOn(depth)) return found;
    const inner = (one: Json) => this.required({ schema: one, root }, depth + 1);
    for (const key of listAt(schema, "required")) if (typeof key === "string") found.add(key);
    const target = resolve(own(schema, "$ref"), root);
    for (const part of [...(target === undefined ? [] : [target]), ...listAt(schema, "allOf")])
      for (const key of inner(part)) found.add(key);
    for (const forms of formsOf(schema)) {
      // A form for something else than an object demands nothing of one.
      const [first, ...rest] = forms
        .filter((one) => (this.kinds({ schema: one, root }, depth + 1) & OBJECT) !== 0)
        .map(inner);
      for (const key of first ?? []) if (rest.every((keys) => keys.has(key))) found.add(key);
    }
    return found;
  }

  /** The keys that it names, wherever in it. */
  keys({ schema, root }: Place, depth = 0): ReadonlySet<string> {
    const found = new Set<string>();
    if (!isObject(schema) || !this.#goesOn(depth)) return found;
    const properties = own(schema, "properties");
    if (isObject(properties)) for (const key of Object.keys(properties)) found.add(key);
    const target = resolve(own(schema, "$ref"), root);
    const parts = [
      ...(target === undefined ? [] : [target]),
      ...listAt(schema, "allOf"),
      ...formsOf(schema).flat(),
    ];
    for (const part of parts) for (const key of this.keys({ schema: part, root }, depth + 1)) found.add(key);
    return found;
  }

  #isNull(place: Place, depth: number): boolean {
    return this.kinds(place, depth + 1) === NULL;
  }

  #goesOn(depth: number): boolean {
    this.#left -= 1;
    this.#allowance.left -= 1;
    return this.#left > 0 && this.#allowance.left > 0 && depth <= MOST_DEPTH;
  }
}

/** With these, there may be more than is written at the place itself. */
const CONDITIONAL = ["then", "else", "dependentSchemas", "$dynamicRef", "$recursiveRef"];

/** What the keywords of a schema itself say, apart from those that put schemas together. */
function ownStep(schema: JsonObject, root: JsonObject, key: Key): Found {
  const values = ownValues(schema);
  const kinds =
    kindsOfTypes(own(schema, "type")) & (values === undefined ? ALL_KINDS : kindsOfValues(values));
  if ((kinds & (typeof key === "string" ? OBJECT : ARRAY)) === 0)
    return {
      missing: `${kindsText(kinds) || "nothing"} has no ${typeof key === "string" ? "keys" : "entries"}`,
    };
  if (values !== undefined)
    return either(
      values.map((value) => valueStep(value, root, key)),
      root,
    );
  return typeof key === "string" ? propertyStep(schema, root, key) : entryStep(schema, root, key);
}

function propertyStep(schema: JsonObject, root: JsonObject, key: string): Found {
  const properties = own(schema, "properties");
  const known = isObject(properties) ? properties : undefined;
  const property = known && own(known, key);
  if (property !== undefined) return { schema: property, root };
  if (own(schema, "patternProperties") !== undefined) return "open";
  const others = own(schema, "additionalProperties");
  if (others === true) return "open";
  if (isObject(others)) return { schema: others, root };
  // Strictly, others are allowed unless this is false; but who lists keys means them.
  if (known === undefined) return others === false ? { missing: "there are no keys" } : "unsaid";
  return { missing: `there is no ${JSON.stringify(short(key))}, but ${keysOf(known)}` };
}

function entryStep(schema: JsonObject, root: JsonObject, key: number | typeof ENTRY): Found {
  const items = own(schema, "items");
  const tuple = own(schema, "prefixItems") ?? (isList(items) ? items : undefined);
  const first = isList(tuple) ? tuple : [];
  const rest = isList(items) ? own(schema, "additionalItems") : items;
  if (key === ENTRY) return first.length > 0 ? "open" : placeOf(rest, root);
  const most = own(schema, "maxItems");
  if (typeof most === "number" && key >= most) return { missing: `there are ${most} entries at most` };
  const entry = first[key];
  if (entry !== undefined) return { schema: entry, root };
  return rest === false ? { missing: `there are ${first.length} entries` } : placeOf(rest, root);
}

function placeOf(schema: Json | undefined, root: JsonObject): Found {
  return isObject(schema) ? { schema, root } : "unsaid";
}

function valueStep(value: Json, root: JsonObject, key: Key): Found {
  if (key === ENTRY) return isList(value) ? "open" : { missing: "no list" };
  const part = isList(value)
    ? typeof key === "number"
      ? value[key]
      : undefined
    : isObject(value) && typeof key === "string"
      ? own(value, key)
      : undefined;
  return part === undefined
    ? { missing: `${kindsText(kindsOfValues([value]))} without it` }
    : { schema: { const: part }, root };
}

function ownValues(schema: JsonObject): readonly Json[] | undefined {
  const constant = own(schema, "const");
  if (constant !== undefined) return [constant];
  const values = own(schema, "enum");
  return isList(values) && values.length > 0 && values.length <= MOST_VALUES ? values : undefined;
}

/** All of these hold: what one of them knows is known, however little the others say. */
function both(found: readonly Found[], root: JsonObject): Found {
  const known = found.flatMap((one) => (isPlace(one) ? [one.schema] : []));
  const [first] = known;
  if (first !== undefined) return { schema: known.length === 1 ? first : { allOf: known }, root };
  if (found.includes("open")) return "open";
  return found.find((one) => one !== "unsaid") ?? "unsaid";
}

/** One of these holds: those that it cannot be are out. */
function either(found: readonly Found[], root: JsonObject): Found {
  const left = found.filter((one) => !isMissing(one));
  if (left.length === 0) return found[0] ?? "unsaid";
  if (left.every((one) => one === "unsaid")) return "unsaid";
  const known = left.flatMap((one) => (isPlace(one) ? [one.schema] : []));
  const [first] = known;
  if (first === undefined || known.length < left.length) return "open";
  return { schema: known.length === 1 ? first : { anyOf: known }, root };
}

export function isPlace(found: Found): found is Place {
  return typeof found === "object" && "schema" in found;
}

export function isMissing(found: Found): found is { readonly missing: string } {
  return typeof found === "object" && "missing" in found;
}

function formsOf(schema: JsonObject): readonly (readonly Json[])[] {
  return [listAt(schema, "anyOf"), listAt(schema, "oneOf")].filter((forms) => forms.length > 0);
}

function listAt(schema: JsonObject, key: string): readonly Json[] {
  const list = own(schema, key);
  return isList(list) ? list : [];
}

/** What a `$ref` leads to, within the whole schema; undefined when that is nowhere, or elsewhere. */
export function resolve(ref: Json | undefined, root: JsonObject): Json | undefined {
  if (ref === "#") return root;
  if (typeof ref !== "string" || !ref.startsWith("#/") || ref.length > 1_000) return undefined;
  let at: Json | undefined = root;
  for (const part of ref.slice(2).split("/")) {
    const key = decoded(part);
    if (isList(at)) at = /^\d{1,6}$/.test(key) ? at[Number(key)] : undefined;
    else at = isObject(at) ? own(at, key) : undefined;
  }
  return at;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return part;
  }
}

function keysOf(properties: JsonObject): string {
  const keys = Object.keys(properties);
  if (keys.length === 0) return "an object without keys";
  const shown = keys.slice(0, SHOWN_KEYS).map((key) => JSON.stringify(short(key)));
  return `${shown.join(", ")}${keys.length > SHOWN_KEYS ? ` and ${keys.length - SHOWN_KEYS} more` : ""}`;
}
