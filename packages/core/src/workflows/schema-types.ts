import type { Json, JsonObject } from "../schema/json.ts";
import { isList, isObject, own } from "../subagents/untrusted/json-kinds.ts";
import { misfitsOf } from "./misfits.ts";
import { isPlace, type Place, resolve, SchemaWalk } from "./schema-walk.ts";

/** What a schema says of the value at a path: its schema, that it may be anything, or that it cannot be there. */
export type SchemaAt = { readonly known: JsonObject } | "any" | { readonly missing: string };

/**
 * The schema of a part of what another describes. Null describes anything. A key that is not among the properties is
 * missing unless others are allowed in so many words.
 */
export function schemaAt(schema: JsonObject | null, path: readonly (string | number)[]): SchemaAt {
  if (schema === null) return "any";
  const found = placeAt({ schema, root: schema }, path);
  if (found === "any" || "missing" in found) return found;
  const known = selfContained(found);
  return Object.keys(known).length === 0 ? "any" : { known };
}

/**
 * Why no value of one schema would ever fit another, in words; undefined where one may. Null is anything. `from` is
 * where the values come from.
 */
export function mismatch(
  source: JsonObject | null,
  target: JsonObject | null,
  from?: string,
): string | undefined {
  if (source === null || target === null) return undefined;
  const place = { schema: source, root: source };
  const [first] = misfitsOf({ kind: "schema", place, from, orNull: false }, { schema: target, root: target });
  return first && `${first.allowed} expected, ${first.given}`;
}

/** The same as `schemaAt`, for those who look further into it. */
export function placeAt(
  start: Place,
  path: readonly (string | number)[],
  walk: SchemaWalk = new SchemaWalk(),
): Place | "any" | { readonly missing: string } {
  let place = start;
  for (const key of path) {
    const found = walk.step(place, key);
    if (found === "open" || found === "unsaid") return "any";
    if (!isPlace(found)) return found;
    place = found;
  }
  return place;
}

const MOST_COPIED = 5_000;
const MOST_DEPTH = 60;

/** A part of a schema that stands for itself: what it refers to comes along. */
function selfContained({ schema, root }: Place): JsonObject {
  const names = new Map<Json, string>();
  const open: { readonly target: Json; readonly name: string }[] = [];
  let left = MOST_COPIED;
  const copy = (value: Json, depth: number): Json => {
    if (typeof value !== "object" || value === null) return value;
    left -= 1;
    // Too large to be of use: anything fits what is left out.
    if (left < 0 || depth > MOST_DEPTH) return isList(value) ? [] : {};
    if (isList(value)) return value.map((inner) => copy(inner, depth + 1));
    const target = resolve(own(value, "$ref"), root);
    const entries = Object.entries(value).flatMap(([key, inner]): [string, Json][] => {
      if (depth === 0 && (key === "$defs" || key === "definitions")) return [];
      if (key !== "$ref" || typeof inner !== "string") return [[key, copy(inner, depth + 1)]];
      return target === undefined ? [] : [["$ref", `#/$defs/${named(target)}`]];
    });
    return Object.fromEntries(entries);
  };
  const named = (target: Json): string => {
    const name = names.get(target) ?? `d${names.size}`;
    if (!names.has(target)) {
      names.set(target, name);
      open.push({ target, name });
    }
    return name;
  };
  const whole = copy(schema, 0);
  const defs: [string, Json][] = [];
  // It grows while it is gone through.
  for (const { target, name } of open) defs.push([name, copy(target, 1)]);
  if (!isObject(whole)) return {};
  return defs.length === 0 ? whole : { ...whole, $defs: Object.fromEntries(defs) };
}
