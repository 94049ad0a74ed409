import type * as z from "zod";
import { preview } from "./preview.ts";
import { type ConfigIssue, formatPath, issue, unknownKey } from "./problems.ts";

/** Turns zod's issues into ours, one for each problem, unknown keys one by one. */
export function issuesOf(
  error: z.ZodError,
  raw: unknown,
  known: (path: readonly PropertyKey[]) => readonly string[],
) {
  return error.issues.flatMap((found) => problemsOf(found, raw, known));
}

function problemsOf(
  found: z.core.$ZodIssue,
  raw: unknown,
  known: (path: readonly PropertyKey[]) => readonly string[],
): ConfigIssue[] {
  if (found.code === "unrecognized_keys") {
    return found.keys.map((key) => unknownKey(formatPath([...found.path, key]), key, known(found.path)));
  }
  if (found.code === "invalid_union") return ofUnion(found, raw, known);
  const given =
    found.code === "custom" && found.params?.["given"] !== undefined
      ? found.params["given"]
      : at(raw, found.path);
  return [issue(formatPath(found.path), given, allowedBy(found))];
}

/** The problems of the form that was most likely meant; of all forms, when none of them comes near. */
function ofUnion(
  found: z.core.$ZodIssueInvalidUnion,
  raw: unknown,
  known: (path: readonly PropertyKey[]) => readonly string[],
): ConfigIssue[] {
  const forms = found.errors.map((issues) =>
    issues.map((inner) => ({ ...inner, path: [...found.path, ...inner.path] })),
  );
  const [best] = forms.toSorted((a, b) => misfit(a, found.path, raw) - misfit(b, found.path, raw));
  if (best === undefined || best.some((inner) => isWrongType(inner, found.path))) {
    const allowed = forms.flatMap((issues) => issues.map(allowedBy)).join(" or ");
    return [issue(formatPath(found.path), at(raw, found.path), allowed)];
  }
  return best.flatMap((inner) => problemsOf(inner, raw, known));
}

const NOTHING_ALIKE = 1e9;

/** How far a value is from a form: not that kind of thing at all, or so many keys missing and unknown. */
function misfit(issues: readonly z.core.$ZodIssue[], at: readonly PropertyKey[], raw: unknown): number {
  if (issues.some((found) => isWrongType(found, at))) return NOTHING_ALIKE;
  const counts = issues.map((found) => {
    if (found.code === "unrecognized_keys") return found.path.length === at.length ? found.keys.length : 0;
    return found.path.length === at.length + 1 && isMissing(raw, found.path) ? 1 : 0;
  });
  return counts.reduce((sum, count) => sum + count, 0);
}

function isWrongType(found: z.core.$ZodIssue, at: readonly PropertyKey[]): boolean {
  return found.code === "invalid_type" && found.path.length === at.length;
}

function isMissing(raw: unknown, path: readonly PropertyKey[]): boolean {
  return at(raw, path) === undefined;
}

function allowedBy(found: z.core.$ZodIssue): string {
  switch (found.code) {
    case "invalid_type":
      return article(found.expected);
    case "invalid_value":
      return found.values.map((value) => preview(value)).join(" or ");
    case "too_small":
      if (found.origin === "string") return "a text that is not empty";
      if (found.origin === "array") return "a list that is not empty";
      return `a number ${found.inclusive === false ? "above" : "of at least"} ${found.minimum}`;
    case "too_big":
      return `a number of at most ${found.maximum}`;
    case "custom":
      return typeof found.params?.["allowed"] === "string" ? found.params["allowed"] : found.message;
    default:
      return found.message;
  }
}

function article(expected: string): string {
  if (expected === "int") return "a whole number";
  return /^[aeiou]/.test(expected) ? `an ${expected}` : `a ${expected}`;
}

function at(raw: unknown, path: readonly PropertyKey[]): unknown {
  let value = raw;
  for (const key of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}
