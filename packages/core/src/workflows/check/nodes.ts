import type { Json, JsonObject } from "../../schema/json.ts";
import type { WorkflowNode, WorkflowNodeOf, WorkflowWork } from "../../schema/workflow.ts";
import { kindsOf, misfitsOf, type Source } from "../misfits.ts";
import { ARRAY, kindsText, NUMBER } from "../schema-kinds.ts";
import { ENTRY, isPlace, type Place } from "../schema-walk.ts";
import type { Catalog } from "./catalog.ts";
import { checkCondition } from "./conditions.ts";
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
        checkCondition(node.if, [...path, "if"], scope, this.#issues);
        break;
      case "map":
        this.#map(node, path, scope);
        break;
      case "approval":
        this.#source(node.message, [...path, "message"], scope);
        this.#source(node.show, [...path, "show"], scope);
        checkSchema(node.response, [...path, "response"], this.#issues);
        break;
      case "wait":
        this.#wait(node, [...path, "for"], scope);
        break;
      default:
        this.#work(node, path, scope);
    }
  }

  #work(work: WorkflowWork, path: Path, scope: Scope): void {
    const { agents, tools, workflows } = this.#catalog;
    switch (work.kind) {
      case "agent":
        this.#named([...path, "agent"], "a registered agent", work.agent, agents);
        this.#source(work.prompt, [...path, "prompt"], scope);
        break;
      case "tool":
        this.#named([...path, "tool"], "a registered tool", work.tool, tools);
        this.#given(work.arguments, [...path, "arguments"], scope, tools?.get(work.tool)?.input);
        break;
      case "workflow":
        if (work.workflow !== this.#own)
          this.#named([...path, "workflow"], "a registered workflow", work.workflow, workflows);
        this.#given(work.input, [...path, "input"], scope, workflows?.get(work.workflow)?.input);
    }
  }

  #named(path: Path, what: string, name: string, known: ReadonlyMap<string, unknown> | null): void {
    if (known !== null && !known.has(name)) this.#issues.stranger(path, what, name, known.keys());
  }

  /** What is handed to something that says what it takes. */
  #given(template: JsonObject, path: Path, scope: Scope, wanted: JsonObject | null | undefined): void {
    const source = this.#source(template, path, scope);
    if (!wanted) return;
    for (const misfit of misfitsOf(source, { schema: wanted, root: wanted }, this.#shapes.walk()))
      this.#issues.misfit(path, misfit);
  }

  #map(node: WorkflowNodeOf<"map">, path: Path, scope: Scope): void {
    const over = [...path, "over"];
    const list = this.#source(node.over, over, scope);
    this.#demand(list, ARRAY, over, "one reference to a list, such as {{ input.items }},", node.over);
    this.#work(node.do, [...path, "do"], { ...scope, item: this.#entryOf(list) });
  }

  #wait({ for: what }: WorkflowNodeOf<"wait">, path: Path, scope: Scope): void {
    if ("webhook" in what) {
      checkSchema(what.webhook.response, [...path, "webhook", "response"], this.#issues);
      return;
    }
    const source = this.#source(what.seconds, [...path, "seconds"], scope);
    const allowed = "a number of seconds, or one reference to it such as {{ input.seconds }},";
    this.#demand(source, NUMBER, [...path, "seconds"], allowed, what.seconds);
  }

  #demand(source: Source, kinds: number, path: Path, allowed: string, given: Json): void {
    const found = kindsOf(source, this.#shapes.walk());
    if ((found & kinds) !== 0) return;
    if (source.kind === "schema")
      this.#issues.tell(path, allowed, `${kindsText(found)} comes from ${source.from}`);
    else this.#issues.refuse(path, allowed, given);
  }

  #source(template: Json, path: Path, scope: Scope): Source {
    return sourceOf(template, path, scope, this.#issues);
  }

  /** What the items of a list are like. */
  #entryOf(list: Source): Place | "any" {
    if (list.kind !== "schema") return "any";
    const found = this.#shapes.walk().step(list.place, ENTRY);
    return isPlace(found) ? found : "any";
  }
}
