import { AgentConfigError, type ConfigIssue, type Json } from "trackside";
import * as z from "zod";

/** Checks the options of a ready-made rail; throws with every problem at once, each with its path. */
export function readOptions<S extends z.ZodType>(name: string, schema: S, given: unknown): z.output<S> {
  const found = schema.safeParse(given);
  if (found.success) return found.data;
  throw new AgentConfigError(
    `the options of ${name}`,
    found.error.issues.flatMap((one) => issuesOf(one, given, schema)),
  );
}

/** A list in options: one entry may stand alone. */
export function oneOrMore<T extends z.ZodType>(entry: T) {
  return listOf(entry, z.array(entry).min(1, "a list that is not empty"));
}

/** The same where none at all is as good: a default of `[]` may be written out. */
export function anyNumber<T extends z.ZodType>(entry: T) {
  return listOf(entry, z.array(entry));
}

function listOf<T extends z.ZodType>(entry: T, list: z.ZodArray<T>) {
  return z.union([entry, list]).transform(
    (given): readonly z.output<T>[] => (Array.isArray(given) ? given : [given as z.output<T>]), // what is no list is one entry
  );
}

const json = z.json();

/** JSON, as options of a serialized agent are; so whoever writes one has nothing to be told. */
export const jsonValue = z.custom<Json>((given) => json.safeParse(given).success, "JSON");

/** Marks an option that JSON cannot hold. */
export const IN_CODE = "inCode";

/** An option that only code can give: a function. */
export function inCode<F>(what: string) {
  return z
    .custom<F>((given) => typeof given === "function", `a function ${what}`)
    .optional()
    .meta({ [IN_CODE]: true });
}

/** Forms of an object for JSON Schema, each with one key that the others can do without. */
export function oneOfKeys(...keys: readonly string[]) {
  return keys.map((key) => ({ required: [key] }));
}

function issuesOf(found: z.core.$ZodIssue, given: unknown, schema: z.ZodType): ConfigIssue[] {
  if (found.code === "unrecognized_keys") {
    const known = found.path.length === 0 && schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
    const allowed = known.length > 0 ? `one of ${known.join(", ")}` : "nothing of that name";
    return found.keys.map((key) => issue([...found.path, key], key, allowed, "unknown key"));
  }
  if (found.code !== "invalid_union")
    return [issue(found.path, at(given, found.path), found.message, found.message)];
  const form = nearest(found.errors);
  if (form)
    return form.flatMap((one) => issuesOf({ ...one, path: [...found.path, ...one.path] }, given, schema));
  const allowed = [...new Set(found.errors.flat().map(({ message }) => message))].join(" or ");
  return [issue(found.path, at(given, found.path), allowed, allowed)];
}

/** Of the forms a value may have, the one it was most likely meant to have: of the right type, and right the furthest. */
function nearest(forms: readonly (readonly z.core.$ZodIssue[])[]): readonly z.core.$ZodIssue[] | undefined {
  const deep = (issues: readonly z.core.$ZodIssue[]) => Math.max(...issues.map(({ path }) => path.length));
  return forms
    .filter((issues) => !issues.some(({ code, path }) => code === "invalid_type" && path.length === 0))
    .toSorted((a, b) => deep(b) - deep(a))[0];
}

function issue(path: readonly PropertyKey[], given: unknown, allowed: string, problem: string): ConfigIssue {
  const shownPath = path.map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`)).join("");
  const place = shownPath.replace(/^\./, "") || "(root)";
  return {
    path: place,
    given: shown(given),
    allowed,
    message: `${place}: ${problem}, ${shown(given)} given`,
  };
}

function shown(value: unknown): string {
  if (typeof value === "function") return "a function";
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = Reflect.get(found, key);
  }
  return found;
}
