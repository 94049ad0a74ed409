import { AgentConfigError, type ConfigIssue } from "trackside";
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
  return z.union([entry, z.array(entry).min(1, "a list that is not empty")]).transform(
    (given): readonly z.output<T>[] => (Array.isArray(given) ? given : [given as z.output<T>]), // what is no list is one entry
  );
}

/** JSON, as options of a serialized agent are. */
export const jsonValue = z.json();

function issuesOf(found: z.core.$ZodIssue, given: unknown, schema: z.ZodType): ConfigIssue[] {
  if (found.code === "unrecognized_keys") {
    const known = found.path.length === 0 && schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
    const allowed = known.length > 0 ? `one of ${known.join(", ")}` : "nothing of that name";
    return found.keys.map((key) => issue([...found.path, key], key, allowed, "unknown key"));
  }
  const inner = found.code === "invalid_union" ? nearest(found.errors) : undefined;
  if (inner)
    return inner.flatMap((one) => issuesOf({ ...one, path: [...found.path, ...one.path] }, given, schema));
  return [issue(found.path, at(given, found.path), found.message, found.message)];
}

/** Of the forms a value may have, the one that got furthest before it failed. */
function nearest(forms: readonly (readonly z.core.$ZodIssue[])[]): readonly z.core.$ZodIssue[] | undefined {
  const deep = (issues: readonly z.core.$ZodIssue[]) => Math.max(0, ...issues.map(({ path }) => path.length));
  const best = forms.toSorted((a, b) => deep(b) - deep(a))[0];
  return best && deep(best) > 0 ? best : undefined;
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
