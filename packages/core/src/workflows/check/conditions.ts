import type { Comparison, Condition } from "../../schema/workflow.ts";
import { kindsOf, misfitsOf, type Source } from "../misfits.ts";
import { ARRAY, kindsText, NULL, NUMBER, OBJECT, TEXT } from "../schema-kinds.ts";
import type { Issues, Path } from "./issues.ts";
import { type Scope, type Shapes, sourceOf } from "./scope.ts";

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
    const sides = new Sides(scope.shapes, path, issues);
    if (op === "==" || op === "!=") sides.equal(one, other);
    else if (op === "contains") sides.holds(one, "left");
    else if (op === "in") sides.holds(other, "right");
    else sides.inOrder(one, other);
  }
}

/** Lists, texts and objects have something in them; null has nothing, and may be asked. */
const HOLDERS = ARRAY | TEXT | OBJECT | NULL;

/** Tells of comparisons that can never come out, or only one way. */
class Sides {
  readonly #shapes: Shapes;
  readonly #path: Path;
  readonly #issues: Issues;

  constructor(shapes: Shapes, path: Path, issues: Issues) {
    this.#shapes = shapes;
    this.#path = path;
    this.#issues = issues;
  }

  /** What can never be equal is a slip, such as a value that is not among those listed. */
  equal(left: Source, right: Source): void {
    const [wanted, given, side] = left.kind === "schema" ? [left, right, "right"] : [right, left, "left"];
    // What may be null may be compared with null, whatever else it is.
    if (wanted.kind !== "schema" || (wanted.orNull && (this.#kinds(given) & NULL) !== 0)) return;
    const misfits = misfitsOf(given, wanted.place, this.#shapes.walk());
    const misfit = misfits.find(({ at }) => at.length === 0);
    if (misfit !== undefined) this.#issues.tell([...this.#path, side], misfit.allowed, misfit.given);
  }

  inOrder(left: Source, right: Source): void {
    const [one, other] = [this.#kinds(left), this.#kinds(right)];
    const can = (kinds: number) => (one & kinds) !== 0 && (other & kinds) !== 0;
    if (can(NUMBER) || can(TEXT)) return;
    const given = `${kindsText(one)} on the left and ${kindsText(other)} on the right given`;
    this.#issues.tell(this.#path, "two numbers or two texts", given);
  }

  holds(source: Source, side: "left" | "right"): void {
    const kinds = this.#kinds(source);
    if ((kinds & HOLDERS) !== 0) return;
    const from = source.kind === "schema" ? `comes from ${source.from}` : "given";
    this.#issues.tell([...this.#path, side], "a list, a text or an object", `${kindsText(kinds)} ${from}`);
  }

  #kinds(source: Source): number {
    return kindsOf(source, this.#shapes.walk());
  }
}
