import type { JsonObject } from "../../schema/json.ts";
import { preview, short } from "../../schema/preview.ts";
import { type Checking, inside, type Place, type Rule, type Schema } from "./checking.ts";
import { isList, isObject, textsOf } from "./json-kinds.ts";
import type { Keywords } from "./keywords.ts";
import type { SafePattern } from "./safe-pattern.ts";

type ObjectRule = (object: JsonObject, at: Place, checking: Checking) => boolean;

export function objectRules(here: Keywords): readonly Rule[] {
  const required = here.names("required") ?? [];
  const rules = [
    ...(required.length > 0 ? [requires(required)] : []),
    ...sizeRules(here),
    ...propertyRules(here),
    ...nameRules(here),
    ...dependentNames(here),
  ];
  return rules.map((rule) => (value, at, checking) => !isObject(value) || rule(value, at, checking));
}

function requires(names: readonly string[], because = ""): ObjectRule {
  return (object, at, checking) => {
    if (!checking.meter.spend(names.length)) return false;
    const missing = names.filter((name) => !Object.hasOwn(object, name));
    for (const name of missing.slice(0, SHOWN))
      checking.fails(`required${because}, and missing`, inside(at, name));
    return missing.length === 0;
  };
}

const SHOWN = 5;

function sizeRules(here: Keywords): ObjectRule[] {
  const [min, max] = [here.count("minProperties"), here.count("maxProperties")];
  if (min === undefined && max === undefined) return [];
  return [
    (object, at, checking) => {
      const size = checking.keysOf(object).length;
      if (min !== undefined && size < min)
        return checking.fails(`an object of at least ${min} properties expected, one of ${size} given`, at);
      if (max === undefined || size <= max) return true;
      return checking.fails(`an object of at most ${max} properties expected, one of ${size} given`, at);
    },
  ];
}

/** `properties`, `patternProperties` and, for what neither names, `additionalProperties`. */
function propertyRules(here: Keywords): ObjectRule[] {
  const named = here.map("properties");
  const patterned = readPatterned(here);
  const refused = here.get("additionalProperties") === false;
  const others = here.schema("additionalProperties");
  if (named.size === 0 && patterned.length === 0 && others === undefined) return [];
  const check = (object: JsonObject, key: string, at: Place, checking: Checking): boolean => {
    const value = object[key] ?? null;
    const own = named.get(key);
    const matching = patterned.filter(([pattern]) => pattern.test(key, checking.meter));
    if (own === undefined && matching.length === 0) {
      if (refused) return checking.fails(unknown(key, named), at);
      return others === undefined || checking.fits(others, value, inside(at, key));
    }
    const schemas = [...(own ? [own] : []), ...matching.map(([, schema]) => schema)];
    return schemas.every((schema) => checking.fits(schema, value, inside(at, key)));
  };
  return [
    (object, at, checking) => {
      let fits = true;
      for (const key of checking.keysOf(object)) {
        if (!checking.meter.spend()) return false;
        if (!check(object, key, at, checking)) fits = false;
        if (!fits && checking.isFull) return false;
      }
      return fits;
    },
  ];
}

function unknown(key: string, named: ReadonlyMap<string, Schema>): string {
  const names = [...named.keys()].slice(0, 20).map(short).join(", ");
  return `no property ${preview(key)} expected${names === "" ? "" : `, only ${names}`}`;
}

function readPatterned(here: Keywords): readonly (readonly [SafePattern, Schema])[] {
  return [...here.map("patternProperties")].flatMap(([source, schema]) => {
    const pattern = here.reader.readPattern(source, `${here.at}/patternProperties`);
    return pattern === undefined ? [] : [[pattern, schema] as const];
  });
}

function nameRules(here: Keywords): ObjectRule[] {
  const schema = here.schema("propertyNames");
  if (schema === undefined) return [];
  return [
    (object, at, checking) => {
      for (const key of checking.keysOf(object)) {
        const { fits, problems } = checking.tries(schema, key, at);
        if (checking.meter.spent) return false;
        if (!fits)
          return checking.fails(
            `the property name ${preview(key)}: ${problems[0]?.text ?? "not allowed"}`,
            at,
          );
      }
      return true;
    },
  ];
}

/** `dependentRequired`, and what `dependencies` said of names. */
function dependentNames(here: Keywords): ObjectRule[] {
  const given = here.get("dependentRequired");
  const older = here.get("dependencies");
  if (given !== undefined && !isObject(given))
    here.refuse("dependentRequired", "an object of lists of names");
  const lists = [
    ...Object.entries(isObject(given) ? given : {}),
    ...Object.entries(isObject(older) ? older : {}).filter(([, value]) => isList(value)),
  ];
  return lists.flatMap(([key, names]) => {
    const texts = textsOf(names);
    if (texts !== undefined) return [dependent(key, texts)];
    here.refuse(isObject(given) ? "dependentRequired" : "dependencies", "an object of lists of names");
    return [];
  });
}

function dependent(key: string, names: readonly string[]): ObjectRule {
  const rule = requires(names, ` with ${preview(key)}`);
  return (object, at, checking) => !Object.hasOwn(object, key) || rule(object, at, checking);
}
