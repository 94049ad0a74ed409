import type { Comparison, Condition } from "../../schema/workflow.ts";
import { kindsOf, misfitsOf, type Source } from "../misfits.ts";
import { ARRAY, kindsText, NULL, NUMBER, OBJECT, TEXT } from "../schema-kinds.ts";
import type { Issues, Path } from "./issues.ts";
import { type Scope, sourceOf } from "./scope.ts";

/** Checks what a condition compares, down to each comparison in it. */
export function checkCondition(condition: Condition, path: Path, scope: Scope, issues: Issues): void {
  const inner = (one: Condition, ...at: Path) => checkCondition(one, [...path, ...at], scope, issues);
  if ("all" in condition) for (const [i, one] of condition.all.entries()) inner(one, "all", i);
  else if ("any" in condition) for (const [i, one] of condition.any.entries()) inner(one, "any", i);
  else if ("not" in condition) inner(condition.not, "not");
  else checkComparison(condition, path, scope, issues);
}

type Compared = Extract<Condition, { op: Comparison }>;

function checkComparison({ left, op, right }: Compared, path: Path, scope: Scope, issues: Issues): void {
  const looksForIt = op === "exists" || op === "empty";
  const one = sourceOf(left, [...path, "left"], scope, issues, looksForIt);
  if (looksForIt) {
    if (right !== undefined) issues.refuse([...path, "right"], `nothing beside ${op}`, right);
  } else if (right === undefined)
    issues.tell([...path, "right"], `a value to compare with by ${op}`, "nothing given");
  else {
    const other = sourceOf(right, [...path, "right"], scope, issues);
    if (op === "==" || op === "!=") checkEquality(one, other, path, issues);
    else if (op === "contains") demand(one, IN_IT, [...path, "left"], issues);
    else if (op === "in") demand(other, IN_IT, [...path, "right"], issues);
    else checkOrder(one, other, path, issues);
  }
}

/** Tells of what can never be equal: it is a slip, such as a value that is not among those listed. */
function checkEquality(left: Source, right: Source, path: Path, issues: Issues): void {
  const [wanted, given, side] = left.kind === "schema" ? [left, right, "right"] : [right, left, "left"];
  // What may be null may be compared with null, whatever else it is.
  if (wanted.kind !== "schema" || (wanted.orNull && (kindsOf(given) & NULL) !== 0)) return;
  const misfit = misfitsOf(given, wanted.place).find(({ at }) => at.length === 0);
  if (misfit !== undefined) issues.tell([...path, side], misfit.allowed, misfit.given);
}

function checkOrder(left: Source, right: Source, path: Path, issues: Issues): void {
  const [one, other] = [kindsOf(left), kindsOf(right)];
  const can = (kinds: number) => (one & kinds) !== 0 && (other & kinds) !== 0;
  if (can(NUMBER) || can(TEXT)) return;
  const given = `${kindsText(one)} on the left and ${kindsText(other)} on the right given`;
  issues.tell(path, "two numbers or two texts", given);
}

const IN_IT = ARRAY | TEXT | OBJECT | NULL;

function demand(source: Source, kinds: number, path: Path, issues: Issues): void {
  if ((kindsOf(source) & kinds) !== 0) return;
  const from = source.kind === "schema" ? `comes from ${source.from}` : "given";
  issues.tell(path, "a list, a text or an object", `${kindsText(kindsOf(source))} ${from}`);
}
