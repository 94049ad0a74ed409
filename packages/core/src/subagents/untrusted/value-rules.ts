import type { Json } from "../../schema/json.ts";
import { preview } from "../../schema/preview.ts";
import { canonical } from "./canonical.ts";
import type { Rule } from "./checking.ts";
import { isList, isObject, textsOf } from "./json-kinds.ts";
import type { Keywords } from "./keywords.ts";
import { Meter } from "./meter.ts";

const TYPES: Readonly<Record<string, { readonly named: string; is(value: Json): boolean }>> = {
  null: { named: "null", is: (value) => value === null },
  boolean: { named: "true or false", is: (value) => typeof value === "boolean" },
  integer: { named: "a whole number", is: (value) => Number.isInteger(value) },
  number: { named: "a number", is: (value) => typeof value === "number" },
  string: { named: "a text", is: (value) => typeof value === "string" },
  array: { named: "a list", is: isList },
  object: { named: "an object", is: isObject },
};

/** What every kind of value can be asked for: `type`, `enum`, `const`. `format` is a remark, and never checked. */
export function valueRules(here: Keywords): readonly Rule[] {
  const rules: Rule[] = [];
  const types = readTypes(here);
  if (types.length > 0) {
    const named = types.map((type) => type.named).join(" or ");
    rules.push((value, at, checking) =>
      types.some((type) => type.is(value)) ? true : checking.expects(named, value, at),
    );
  }
  const values = here.get("enum");
  if (values !== undefined && !(isList(values) && values.length > 0))
    here.refuse("enum", "a list of values that is not empty");
  else if (isList(values)) rules.push(oneOf(values));
  const constant = here.get("const");
  if (constant !== undefined) rules.push(oneOf([constant]));
  return rules;
}

function readTypes(here: Keywords) {
  const given = here.get("type");
  if (given === undefined) return [];
  const names = typeof given === "string" ? [given] : textsOf(given);
  const types = (names ?? []).flatMap((name) => (Object.hasOwn(TYPES, name) ? (TYPES[name] ?? []) : []));
  if (types.length === 0 || types.length !== names?.length)
    here.refuse("type", `one or a list of ${Object.keys(TYPES).join(", ")}`);
  return types;
}

const SHOWN_VALUES = 10;

function oneOf(values: readonly Json[]): Rule {
  const free = new Meter(Number.POSITIVE_INFINITY); // bounded by the size of the schema
  const known = new Set(values.map((value) => canonical(value, free)));
  const more = values.length > SHOWN_VALUES ? ` or one of ${values.length - SHOWN_VALUES} more` : "";
  const shown = values.slice(0, SHOWN_VALUES).map(preview).join(" or ") + more;
  return (value, at, checking) =>
    known.has(canonical(value, checking.meter)) || checking.expects(shown, value, at);
}
