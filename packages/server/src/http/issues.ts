import type * as z from "zod";
import type { Problem } from "../contract/index.ts";

type Issue = NonNullable<Problem["issues"]>[number];

const SHOWN = 80;
/** What is typed into these is never said back. */
const HIDDEN = /password|secret|api_key|link|token/i;

/** Every problem of what was given, each with its place, what was there and what may be. */
export function issuesOf(error: z.core.$ZodError, given: unknown, part: string): Issue[] {
  return error.issues.flatMap((found) => problemsOf(found, given, part));
}

function problemsOf(found: z.core.$ZodIssue, given: unknown, part: string): Issue[] {
  if (found.code === "unrecognized_keys")
    return found.keys.map((key) => {
      const path = pathOf(part, [...found.path, key]);
      const allowed = "a key that is known here";
      return { path, given: short(JSON.stringify(key)), allowed, message: `${path}: unknown key` };
    });
  if (found.code === "invalid_union" && found.errors.length > 0) return ofUnion(found, given, part);
  const path = pathOf(part, found.path);
  const allowed = allowedBy(found);
  const shown = HIDDEN.test(path) ? "something" : preview(at(given, found.path));
  return [{ path, given: shown, allowed, message: `${path}: ${allowed} expected, ${shown} given` }];
}

/** The problems of the form that was most likely meant: the one with the fewest. */
function ofUnion(found: z.core.$ZodIssueInvalidUnion, given: unknown, part: string): Issue[] {
  const forms = found.errors.map((issues) =>
    issues.flatMap((inner) => problemsOf({ ...inner, path: [...found.path, ...inner.path] }, given, part)),
  );
  const own = pathOf(part, found.path);
  if (forms.every((issues) => issues.some(({ path }) => path === own))) {
    const allowed = [...new Set(forms.flat().map((issue) => issue.allowed))].join(" or ");
    const shown = HIDDEN.test(own) ? "something" : preview(at(given, found.path));
    return [{ path: own, given: shown, allowed, message: `${own}: ${allowed} expected, ${shown} given` }];
  }
  const near = forms.filter((issues) => issues.every(({ path }) => path !== own));
  return near.toSorted((a, b) => a.length - b.length)[0] ?? [];
}

function allowedBy(found: z.core.$ZodIssue): string {
  switch (found.code) {
    case "invalid_type":
      return article(found.expected);
    case "invalid_value":
      return found.values.map((value) => preview(value)).join(" or ");
    case "too_small":
      return size(found.origin, "at least", Number(found.minimum));
    case "too_big":
      return size(found.origin, "at most", Number(found.maximum));
    default:
      return found.message;
  }
}

function size(origin: string, how: string, n: number): string {
  if (origin === "string") return `a text of ${how} ${n} character${n === 1 ? "" : "s"}`;
  if (origin === "array") return `a list of ${how} ${n}`;
  return `a number of ${how} ${n}`;
}

function article(expected: string): string {
  if (expected === "int") return "a whole number";
  return /^[aeiou]/.test(expected) ? `an ${expected}` : `a ${expected}`;
}

function pathOf(part: string, path: readonly PropertyKey[]): string {
  let text = part;
  for (const key of path) {
    if (typeof key === "number") text += `[${key}]`;
    else text += `${text === "" ? "" : "."}${short(String(key))}`;
  }
  return text || "(root)";
}

function at(given: unknown, path: readonly PropertyKey[]): unknown {
  let value = given;
  for (const key of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}

function preview(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "string") return short(JSON.stringify(value.slice(0, SHOWN + 1)));
  if (Array.isArray(value)) return `a list of ${value.length}`;
  return typeof value === "object" && value !== null ? "an object" : String(value);
}

function short(text: string): string {
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}
