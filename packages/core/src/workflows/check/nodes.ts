import type { JsonObject } from "../../schema/json.ts";
import type { Condition, WorkflowNode, WorkflowNodeOf, WorkflowWork } from "../../schema/workflow.ts";
import { kindsOf, misfitsOf, type Source } from "../misfits.ts";
import { ARRAY, kindsText, NUMBER, OBJECT, TEXT } from "../schema-kinds.ts";
import { ENTRY, isPlace, type Place, SchemaWalk } from "../schema-walk.ts";
import type { Catalog } from "./catalog.ts";
import type { Issues, Path } from "./issues.ts";
import { checkSchema } from "./schemas.ts";
import { type Scope, type Shapes, sourceOf } from "./scope.ts";

/** Checks the nodes of a workflow one by one: what they name, what they refer to, and what they are given. */
export class NodeChecks {
  /** The name of the workflow itself. */
  readonly #own: string | undefined;
  readonly #catalog: Catalog;
  readonly #shapes: Shapes;
  readonly #issues: Issues;

  constructor(own: string | undefined, catalog: Catalog, shapes: Shapes, issues: Issues) {
    this.#own = own;
    this.#catalog = catalog;
    this.#shapes = shapes;
    this.#issues = issues;
  }

  check(id: string, node: WorkflowNode): void {
    const path = ["nodes", id];
    const scope: Scope = { shapes: this.#shapes, node: id };
    switch (node.kind) {
      case "condition":
        return this.#condition(node.if, [...path, "if"], scope);
      case "map":
        return this.#map(node, path, scope);
      case "approval":
        this.#source(node.message, [...path, "message"], scope);
        this.#source(node.show, [...path, "show"], scope);
        return checkSchema(node.response, [...path, "response"], this.#issues);
      case "wait":
        return this.#wait(node, [...path, "for"], scope);
      default:
        return this.#work(node, path, scope);
    }
  }

  #work(work: WorkflowWork, path: Path, scope: Scope): void {
    const { agents, tools, workflows } = this.#catalog;
    switch (work.kind) {
      case "agent":
        this.#named([...path, "agent"], "a registered agent", work.agent, agents);
        this.#source(work.prompt, [...path, "prompt"], scope);
        return;
      case "tool":
        this.#named([...path, "tool"], "a registered tool", work.tool, tools);
        return this.#given(work.arguments, [...path, "arguments"], scope, tools?.get(work.tool)?.input);
      case "workflow":
        if (work.workflow !== this.#own)
          this.#named([...path, "workflow"], "a registered workflow", work.workflow, workflows);
        return this.#given(work.input, [...path, "input"], scope, workflows?.get(work.workflow)?.input);
    }
  }

  #named(path: Path, what: string, name: string, known: ReadonlyMap<string, unknown> | null): void {
    if (known !== null && !known.has(name)) this.#issues.stranger(path, what, name, known.keys());
  }

  /** What is handed to something that says what it takes. */
  #given(template: JsonObject, path: Path, scope: Scope, wanted: JsonObject | null | undefined): void {
    const source = this.#source(template, path, scope);
    if (wanted) this.#fits(source, wanted, path);
  }

  #fits(source: Source, wanted: JsonObject, path: Path): void {
    for (const misfit of misfitsOf(source, { schema: wanted, root: wanted }))
      this.#issues.misfit(path, misfit);
  }

  #map(node: WorkflowNodeOf<"map">, path: Path, scope: Scope): void {
    const list = this.#source(node.over, [...path, "over"], scope);
    this.#demand(list, ARRAY, [...path, "over"], "a list, such as {{ input.items }}", node.over);
    this.#work(node.do, [...path, "do"], { ...scope, item: entryOf(list) });
  }

  #wait({ for: what }: WorkflowNodeOf<"wait">, path: Path, scope: Scope): void {
    if ("webhook" in what)
      return checkSchema(what.webhook.response, [...path, "webhook", "response"], this.#issues);
    const source = this.#source(what.seconds, [...path, "seconds"], scope);
    const allowed = "a number of seconds, or one reference to it such as {{ input.seconds }}";
    this.#demand(source, NUMBER, [...path, "seconds"], allowed, what.seconds);
  }

  #demand(source: Source, kinds: number, path: Path, allowed: string, given: unknown): void {
    if ((kindsOf(source) & kinds) !== 0) return;
    if (source.kind === "schema")
      this.#issues.tell(path, allowed, `${kindsText(kindsOf(source))} comes from ${source.from}`);
    else this.#issues.refuse(path, allowed, given);
  }

  #condition(condition: Condition, path: Path, scope: Scope): void {
    if ("all" in condition)
      return condition.all.forEach((one, i) => void this.#condition(one, [...path, "all", i], scope));
    if ("any" in condition)
      return condition.any.forEach((one, i) => void this.#condition(one, [...path, "any", i], scope));
    if ("not" in condition) return this.#condition(condition.not, [...path, "not"], scope);
    const { left, op, right } = condition;
    const looksForIt = op === "exists" || op === "empty";
    const one = sourceOf(left, [...path, "left"], scope, this.#issues, looksForIt);
    if (looksForIt) {
      if (right !== undefined) this.#issues.refuse([...path, "right"], `nothing beside ${op}`, right);
    } else if (right === undefined)
      this.#issues.tell([...path, "right"], `a value to compare with by ${op}`, "nothing given");
    else this.#compared(op, one, this.#source(right, [...path, "right"], scope), path);
  }

  /** Tells of comparisons that could never come out, or never otherwise. */
  #compared(op: string, left: Source, right: Source, path: Path): void {
    if (op === "==" || op === "!=") {
      const [wanted, given] = right.kind === "schema" ? [right, left] : [left, right];
      const place = wanted.kind === "schema" && !wanted.orNull ? wanted.place : undefined;
      const [first] = place === undefined ? [] : misfitsOf(given, place);
      const side = right.kind === "schema" ? "left" : "right";
      if (first?.at.length === 0) this.#issues.tell([...path, side], first.allowed, first.given);
      return;
    }
    const isOrder = op !== "contains" && op !== "in";
    const needed = isOrder ? NUMBER | TEXT : ARRAY | TEXT | OBJECT | 1;
    const words = isOrder ? "a number or a text" : "a list, a text or an object";
    const sides: [string, Source][] = isOrder
      ? [
          ["left", left],
          ["right", right],
        ]
      : [op === "in" ? ["right", right] : ["left", left]];
    for (const [side, source] of sides) this.#demandSide(source, needed, [...path, side], words);
    const kinds = kindsOf(left) & kindsOf(right);
    const isComparable = !isOrder || (kinds & (NUMBER | TEXT)) !== 0 || bothNumbers(left, right);
    if (!isComparable && sides.every(([, source]) => (kindsOf(source) & needed) !== 0)) {
      const given = `${kindsText(kindsOf(left))} on the left and ${kindsText(kindsOf(right))} on the right given`;
      this.#issues.tell(path, "two numbers or two texts", given);
    }
  }

  #demandSide(source: Source, kinds: number, path: Path, allowed: string): void {
    if ((kindsOf(source) & kinds) !== 0) return;
    const from = source.kind === "schema" ? `comes from ${source.from}` : "given";
    this.#issues.tell(path, allowed, `${kindsText(kindsOf(source))} ${from}`);
  }

  #source(template: Parameters<typeof sourceOf>[0], path: Path, scope: Scope): Source {
    return sourceOf(template, path, scope, this.#issues);
  }
}

/** A whole number and a fraction are different kinds, and yet both numbers. */
function bothNumbers(left: Source, right: Source): boolean {
  return (kindsOf(left) & NUMBER) !== 0 && (kindsOf(right) & NUMBER) !== 0;
}

/** What the items of a list are like. */
function entryOf(list: Source): Place | "any" {
  if (list.kind !== "schema") return "any";
  const found = new SchemaWalk().step(list.place, ENTRY);
  return isPlace(found) ? found : "any";
}
