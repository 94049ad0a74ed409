import type { Json } from "../../schema/json.ts";
import { short } from "../../schema/preview.ts";
import type { Checking, Place, Problem, Rule, Schema } from "./checking.ts";
import { isList, isObject } from "./json-kinds.ts";
import type { Keywords } from "./keywords.ts";

/** Schemas held against the same value, whose number multiplies: what they cost is on the meter. */
export function combinedRules(here: Keywords, inPlace: Schema[]): readonly Rule[] {
  const rules: Rule[] = [];
  const all = here.schemas("allOf");
  const any = here.schemas("anyOf");
  const one = here.schemas("oneOf");
  const not = here.schema("not");
  const [condition, then, otherwise] = [here.schema("if"), here.schema("then"), here.schema("else")];
  const dependent = readDependent(here);
  const used = [...(all ?? []), ...(any ?? []), ...(one ?? []), not, condition, then, otherwise];
  for (const schema of [...used, ...dependent.map(([, schema]) => schema)]) if (schema) inPlace.push(schema);

  for (const schema of all ?? []) rules.push((value, at, checking) => checking.fits(schema, value, at));
  if (any) rules.push((value, at, checking) => fitsSome(any, value, at, checking));
  if (one) rules.push((value, at, checking) => fitsOne(one, value, at, checking));
  if (not) {
    rules.push(
      (value, at, checking) =>
        !checking.tries(not, value, at).fits ||
        checking.expects("a value that does not fit `not`", value, at),
    );
  }
  if (condition) {
    rules.push((value, at, checking) => {
      const branch = checking.tries(condition, value, at).fits ? then : otherwise;
      return branch === undefined || checking.fits(branch, value, at);
    });
  }
  for (const [key, schema] of dependent) {
    rules.push(
      (value, at, checking) =>
        !isObject(value) || !Object.hasOwn(value, key) || checking.fits(schema, value, at),
    );
  }
  return rules;
}

/** `dependentSchemas`, and what `dependencies` said of schemas. */
function readDependent(here: Keywords): readonly (readonly [string, Schema])[] {
  const older = here.get("dependencies");
  if (older !== undefined && !isObject(older)) here.refuse("dependencies", "an object of names or schemas");
  const schemas = Object.entries(isObject(older) ? older : {}).filter(([, given]) => !isList(given));
  const read = here.reader.readMap(Object.fromEntries(schemas), `${here.at}/dependencies`);
  return [...here.map("dependentSchemas"), ...read];
}

function fitsSome(forms: readonly Schema[], value: Json, at: Place, checking: Checking): boolean {
  const tried: (readonly Problem[])[] = [];
  for (const form of forms) {
    const { fits, problems } = checking.tries(form, value, at);
    if (fits) return true;
    if (checking.meter.spent) return false;
    tried.push(problems);
  }
  return failsAll(tried, at, checking);
}

function fitsOne(forms: readonly Schema[], value: Json, at: Place, checking: Checking): boolean {
  const tried: (readonly Problem[])[] = [];
  const fitting: number[] = [];
  for (const [i, form] of forms.entries()) {
    const { fits, problems } = checking.tries(form, value, at);
    if (checking.meter.spent) return false;
    if (fits) fitting.push(i);
    else tried.push(problems);
    if (fitting.length > 1)
      return checking.fails(`only one form of \`oneOf\` may fit, and ${fitting.join(" and ")} do`, at);
  }
  return fitting.length === 1 || failsAll(tried, at, checking);
}

const SHOWN_FORMS = 4;

/** Tells of the form that got furthest into the value; of all forms, when none got anywhere. */
function failsAll(tried: readonly (readonly Problem[])[], at: Place, checking: Checking): false {
  const near = tried
    .filter((problems) => problems.length > 0 && problems.every((problem) => problem.at.depth > at.depth))
    .toSorted((a, b) => a.length - b.length)[0];
  if (near !== undefined) return checking.takes(near);
  const reasons = new Set<string>();
  for (const [first] of tried) if (first && reasons.size < SHOWN_FORMS) reasons.add(short(first.text));
  return checking.fails(`none of ${tried.length} forms fits (${[...reasons].join("; ")})`, at);
}
