import type { Json } from "../../schema/json.ts";
import { canonical } from "./canonical.ts";
import { type Checking, inside, type Place, type Rule, type Schema } from "./checking.ts";
import { isList } from "./json-kinds.ts";
import type { Keywords } from "./keywords.ts";

type ListRule = (list: readonly Json[], at: Place, checking: Checking) => boolean;

export function arrayRules(here: Keywords): readonly Rule[] {
  const rules = [...sizeRules(here), ...itemRules(here), ...containsRules(here)];
  if (here.flag("uniqueItems")) rules.push(unique);
  return rules.map((rule) => (value, at, checking) => !isList(value) || rule(value, at, checking));
}

function sizeRules(here: Keywords): ListRule[] {
  const [min, max] = [here.count("minItems"), here.count("maxItems")];
  const rules: ListRule[] = [];
  if (min !== undefined)
    rules.push((list, at, c) => list.length >= min || c.fails(sized(list, `at least ${min}`), at));
  if (max !== undefined)
    rules.push((list, at, c) => list.length <= max || c.fails(sized(list, `at most ${max}`), at));
  return rules;
}

function sized(list: readonly Json[], allowed: string): string {
  return `a list of ${allowed} items expected, one of ${list.length} given`;
}

/** The first items have schemas of their own, in `prefixItems` or, as it was written before, in `items`. */
function itemRules(here: Keywords): ListRule[] {
  const tuple = isList(here.get("items"));
  if (tuple && here.get("prefixItems") !== undefined) here.refuse("items", "a schema, beside prefixItems,");
  const first = (tuple ? here.schemas("items") : here.schemas("prefixItems")) ?? [];
  const others = here.schema(tuple ? "additionalItems" : "items");
  if (first.length === 0 && others === undefined) return [];
  return [
    (list, at, checking) => {
      const end = others === undefined ? Math.min(first.length, list.length) : list.length;
      let fits = true;
      for (let i = 0; i < end; i++) {
        const schema = first[i] ?? others;
        if (schema !== undefined && !checking.fits(schema, list[i] ?? null, inside(at, i))) fits = false;
        if (!fits && checking.isFull) return false;
      }
      return fits;
    },
  ];
}

function containsRules(here: Keywords): ListRule[] {
  const schema = here.schema("contains");
  const [min = 1, max] = [here.count("minContains"), here.count("maxContains")];
  if (schema === undefined) return [];
  return [
    (list, at, checking) => {
      const found = countFits(schema, list, at, checking);
      if (found < min)
        return checking.fails(`at least ${min} items of the kind in \`contains\` expected`, at);
      if (max === undefined || found <= max) return true;
      return checking.fails(`at most ${max} items of the kind in \`contains\` expected, ${found} given`, at);
    },
  ];
}

function countFits(schema: Schema, list: readonly Json[], at: Place, checking: Checking): number {
  let count = 0;
  for (const [i, item] of list.entries()) {
    if (checking.tries(schema, item, inside(at, i)).fits) count++;
    if (checking.meter.spent) break;
  }
  return count;
}

const unique: ListRule = (list, at, checking) => {
  const seen = new Set<string>();
  for (const [i, item] of list.entries()) {
    const text = canonical(item, checking.meter);
    if (checking.meter.spent) return false;
    if (seen.has(text))
      return checking.expects("an item that is not in the list before", item, inside(at, i));
    seen.add(text);
  }
  return true;
};
