import { type Schema, Validator } from "@cfworker/json-schema";
import type { Json, JsonObject } from "trackside/schema";
import type { Path } from "./path.ts";
import { isList, isObject, objectIn, resolved, schemasIn, textIn, textsIn } from "./subschema.ts";
import { wordsFor } from "./words.ts";

/** What is wrong, where, in words that follow the name of the field: "has to be at least 1". */
export interface Problem {
  readonly path: Path;
  readonly message: string;
}

/**
 * What is wrong with a value. Whether anything is, the checker of the server decides; here it is only said in plain words.
 * A schema that cannot be checked in the browser is left to the server.
 */
export function problemsOf(schema: JsonObject, value: Json): readonly Problem[] {
  try {
    const checker = new Checker(schema);
    if (checker.fits(schema, value)) return [];
    const found = checker.explain(schema, value, []);
    return found.length > 0 ? unique(found) : [{ path: [], message: "does not fit" }];
  } catch {
    return []; // a pattern that is no regular expression, a reference to nowhere
  }
}

function unique(problems: readonly Problem[]): readonly Problem[] {
  const seen = new Set<string>();
  return problems.filter(({ path, message }) => {
    const key = JSON.stringify([path, message]);
    return !seen.has(key) && seen.add(key);
  });
}

/** Keywords about one value, in the order in which one of them is told: what is no number need not be above 1 too. */
const LEAVES = [
  ..."const enum type minLength maxLength format pattern minimum maximum exclusiveMinimum".split(" "),
  ..."exclusiveMaximum multipleOf minItems maxItems uniqueItems contains minProperties maxProperties".split(
    " ",
  ),
];

/** Schemas may hold themselves. */
const MAX_DEPTH = 50;

class Checker {
  readonly #root: JsonObject;
  readonly #defs: JsonObject;
  readonly #draft: "7" | "2020-12";

  constructor(root: JsonObject) {
    this.#root = root;
    this.#draft = /draft-0?[67]/.test(textIn(root, "$schema") ?? "") ? "7" : "2020-12";
    const { $defs, definitions } = root;
    this.#defs = { ...($defs && { $defs }), ...(definitions && { definitions }) };
  }

  /** Whether a value fits a part of the schema. */
  fits(schema: Json, value: Json): boolean {
    if (!isObject(schema)) return schema !== false;
    // The checker marks what it is given, so it gets a copy; its own type lists keywords one by one.
    const copy = structuredClone({ ...this.#defs, ...schema }) as Schema;
    return new Validator(copy, this.#draft).validate(value).valid;
  }

  explain(given: Json, value: Json, path: Path): Problem[] {
    if (given === false) return [{ path, message: "is not known here" }];
    const schema = isObject(given) ? resolved(given, this.#root) : undefined;
    if (schema === undefined || path.length > MAX_DEPTH || this.fits(schema, value)) return [];
    const leaf = LEAVES.find(
      (keyword) =>
        Object.hasOwn(schema, keyword) && !this.fits({ [keyword]: schema[keyword] ?? null }, value),
    );
    if (leaf !== undefined) return [{ path, message: wordsFor(leaf, schema) }];
    return [
      ...(isObject(value) ? this.#inObject(schema, value, path) : []),
      ...(isList(value) ? this.#inList(schema, value, path) : []),
      ...this.#combined(schema, value, path),
    ];
  }

  #inObject(schema: JsonObject, value: JsonObject, path: Path): Problem[] {
    const properties = objectIn(schema, "properties") ?? {};
    const patterns = Object.entries(objectIn(schema, "patternProperties") ?? {});
    const missing = textsIn(schema, "required").filter((key) => !Object.hasOwn(value, key));
    const found: Problem[] = missing.map((key) => ({ path: [...path, key], message: "is needed" }));
    for (const [key, inner] of Object.entries(value)) {
      const at = [...path, key];
      const own = Object.hasOwn(properties, key) ? properties[key] : undefined;
      const fitting = patterns.filter(([pattern]) => new RegExp(pattern, "u").test(key));
      const schemas = [...(own === undefined ? [] : [own]), ...fitting.map(([, one]) => one)];
      if (schemas.length === 0) schemas.push(schema["additionalProperties"] ?? true);
      for (const one of schemas) found.push(...this.explain(one, inner, at));
      const names = schema["propertyNames"] ?? true;
      for (const { message } of this.explain(names, key, at))
        found.push({ path: at, message: `as a name ${message}` });
    }
    for (const [key, needed] of Object.entries(objectIn(schema, "dependentRequired") ?? {})) {
      if (!Object.hasOwn(value, key)) continue;
      for (const other of isList(needed) ? needed : [])
        if (typeof other === "string" && !Object.hasOwn(value, other))
          found.push({ path: [...path, other], message: `is needed with ${key}` });
    }
    for (const [key, inner] of Object.entries(objectIn(schema, "dependentSchemas") ?? {}))
      if (Object.hasOwn(value, key))
        found.push(...this.#because(`with ${key}`, this.explain(inner, value, path)));
    return found;
  }

  #because(why: string, problems: readonly Problem[]): Problem[] {
    return problems.map(({ path, message }) => ({ path, message: `${message} ${why}` }));
  }

  #inList(schema: JsonObject, value: readonly Json[], path: Path): Problem[] {
    const { prefixItems, items } = schema;
    // Draft 7 has the first entries under `items`.
    const first = isList(prefixItems) ? prefixItems : isList(items) ? items : [];
    const others = isList(items) ? (schema["additionalItems"] ?? true) : (items ?? true);
    return value.flatMap((one, i) => this.explain(first[i] ?? others, one, [...path, i]));
  }

  #combined(schema: JsonObject, value: Json, path: Path): Problem[] {
    const found = schemasIn(schema, "allOf").flatMap((one) => this.explain(one, value, path));
    for (const keyword of ["anyOf", "oneOf"] as const) {
      const forms = schemasIn(schema, keyword);
      if (forms.length > 0 && !this.fits({ [keyword]: forms }, value))
        found.push(...this.#noForm(keyword, forms, value, path));
    }
    const { not, if: condition } = schema;
    if (not !== undefined && !this.fits({ not }, value)) found.push({ path, message: notWords(not, schema) });
    if (condition !== undefined) {
      const branch = schema[this.fits(condition, value) ? "then" : "else"];
      if (branch !== undefined)
        found.push(...this.#because(whenWords(condition), this.explain(branch, value, path)));
    }
    return found;
  }

  /** Of the forms a value may have, the one it was most likely meant to have is told. */
  #noForm(keyword: "anyOf" | "oneOf", forms: readonly JsonObject[], value: Json, path: Path): Problem[] {
    const keys = forms.map((form) => textsIn(form, "required"));
    const fitting = forms.filter((form) => this.fits(form, value)).length;
    if (isObject(value) && keys.every((one) => one.length > 0) && forms.every(isCondition)) {
      const named = [...new Set(keys.flat())].join(", ");
      const many = keyword === "oneOf" ? "exactly one" : "at least one";
      return [{ path, message: `needs ${many} of ${named}` }];
    }
    if (fitting > 0) return [{ path, message: "could be read in more than one way" }];
    const constants = forms.flatMap((form) => (Object.hasOwn(form, "const") ? [form["const"] ?? null] : []));
    if (constants.length === forms.length) return [{ path, message: wordsFor("enum", { enum: constants }) }];
    const told = forms.map((form) => ({
      kin: this.#kinship(form, value),
      problems: this.explain(form, value, path),
    }));
    const [close] = told
      .filter(({ kin, problems }) => kin > 0 && problems.length > 0)
      .toSorted((a, b) => b.kin - a.kin || depth(b.problems) - depth(a.problems));
    if (close !== undefined) return close.problems;
    const messages = told.flatMap(({ problems }) => problems.map(({ message }) => message));
    return [{ path, message: [...new Set(messages)].join(", or ") }];
  }

  /** How likely a form is meant: 2 for one of the value's type, 1 where the form does not say, 0 for another. */
  #kinship(form: JsonObject, value: Json): 0 | 1 | 2 {
    const type = resolved(form, this.#root)?.["type"];
    if (type === undefined) return 1;
    return this.fits({ type }, value) ? 2 : 0;
  }
}

function depth(problems: readonly Problem[]): number {
  return Math.max(...problems.map(({ path }) => path.length));
}

/** Whether a form only says what else has to be there. */
function isCondition(form: JsonObject): boolean {
  return Object.keys(form).every((key) => key === "required" || key === "properties");
}

function notWords(not: Json, schema: JsonObject): string {
  const keys = isObject(not) ? textsIn(not, "required") : [];
  if (keys.length > 1) return `cannot have ${keys.join(" and ")} together`;
  if (keys.length === 1) return `cannot have ${keys[0]}`;
  return Object.hasOwn(schema, "description") ? wordsFor("pattern", schema) : "is not allowed";
}

/** `if: { properties: { onFail: { const: "ask" } } }` is "when onFail is ask". */
function whenWords(condition: Json): string {
  const properties = isObject(condition) ? objectIn(condition, "properties") : undefined;
  const said = Object.entries(properties ?? {}).flatMap(([key, one]) =>
    isObject(one) && Object.hasOwn(one, "const") ? [`${key} is ${String(one["const"])}`] : [],
  );
  return said.length > 0 ? `when ${said.join(" and ")}` : "here";
}
