import type { Json } from "../../schema/json.ts";
import { isObject } from "../../subagents/untrusted/json-kinds.ts";
import type { Graph } from "../graph.ts";
import type { Source } from "../misfits.ts";
import { type NodeOutput, schemaOf } from "../output-of.ts";
import { placeAt } from "../schema-types.ts";
import type { Place, SchemaWalk } from "../schema-walk.ts";
import { type Reference, referencesIn, referenceText } from "../template.ts";
import type { Issues, Path } from "./issues.ts";

/** What all templates of a workflow have in common. */
export interface Shapes {
  readonly graph: Graph;
  readonly input: Place | "any";
  outputOf(id: string): NodeOutput;
  /** For each look into a schema. */
  walk(): SchemaWalk;
}

/** What the templates at one place may refer to. */
export interface Scope {
  readonly shapes: Shapes;
  /** Whose templates they are; undefined for the workflow's own output, which may refer to every node. */
  readonly node?: string;
  /** Within a map: what its items are like. */
  readonly item?: Place | "any";
}

const INDEX: Place = { schema: { type: "integer" }, root: {} };
const TEXT: Source = { kind: "text" };
const ANY: Source = { kind: "any" };

/**
 * Checks the references of a template, and answers what is known of the value it will be. With `lenient`, what is not
 * there is no problem.
 */
export function sourceOf(template: Json, path: Path, scope: Scope, issues: Issues, lenient = false): Source {
  if (issues.isFull) return ANY;
  const { references, problems } = referencesIn(template);
  for (const { at, problem } of problems) issues.refuse([...path, ...at], problem, textAt(template, at));
  const known = new Map<string, Source>();
  for (const reference of references) {
    const at = [...path, ...reference.at];
    const source = readBy(lenient ? { ...reference, optional: true } : reference, at, scope, issues);
    if (reference.alone) known.set(keyOf(reference.at), source);
  }
  return shapeOf(template, [], known);
}

/** A template as the value it becomes: `alone` are the texts of it that are one reference and nothing else. */
function shapeOf(template: Json, at: Path, alone: ReadonlyMap<string, Source>): Source {
  if (typeof template === "string") {
    if (!template.includes("{{")) return { kind: "value", value: template };
    return alone.get(keyOf(at)) ?? TEXT;
  }
  if (typeof template !== "object" || template === null) return { kind: "value", value: template };
  if (!isObject(template))
    return { kind: "list", entries: template.map((one, i) => shapeOf(one, [...at, i], alone)) };
  const entries = Object.entries(template).map(
    ([key, one]) => [key, shapeOf(one, [...at, key], alone)] as const,
  );
  return { kind: "object", entries: new Map(entries) };
}

function keyOf(at: Path): string {
  return JSON.stringify(at);
}

const THERE = "a reference to what is there, or one with a ? (then it is null)";

/** What a reference stands for. */
function readBy(reference: Reference, at: Path, scope: Scope, issues: Issues): Source {
  const start = startOf(reference, at, scope, issues);
  if (start === "any") return ANY;
  const found = placeAt(start, reference.path, scope.shapes.walk());
  if (found === "any") return ANY;
  if ("missing" in found) {
    if (!reference.optional) issues.tell(at, THERE, `${shown(reference)} given: ${found.missing}`);
    return ANY;
  }
  return { kind: "schema", place: found, from: referenceText(reference), orNull: reference.optional };
}

function startOf(reference: Reference, at: Path, scope: Scope, issues: Issues): Place | "any" {
  const { root } = reference;
  if (root === "input") return scope.shapes.input;
  if (root === "nodes") return nodeOf(reference, at, scope, issues);
  if (scope.item === undefined) {
    issues.tell(at, "input or nodes.<id>", `${shown(reference)} is only there in what a map does`);
    return "any";
  }
  return root === "index" ? INDEX : scope.item;
}

function nodeOf(reference: Reference, at: Path, { shapes, node: own }: Scope, issues: Issues): Place | "any" {
  const { node: id = "" } = reference;
  const { graph } = shapes;
  if (!graph.has(id)) {
    const known = own === undefined ? graph.ids : graph.ids.filter((other) => graph.isUpstream(other, own));
    issues.stranger(at, own === undefined ? "a node" : "a node before this one", id, known);
    return "any";
  }
  if (own !== undefined && !graph.isUpstream(id, own)) {
    const why =
      id === own
        ? "is this node itself"
        : `does not come before it; connect "${id}" to it, or to one before it`;
    issues.tell(at, "a node before this one", `${shown(reference)} ${why}`);
    return "any";
  }
  const output = shapes.outputOf(id);
  if (output === "any") return "any";
  if (output === "nothing") {
    if (!reference.optional)
      issues.tell(at, "a node that comes to something", `${shown(reference)} is only a wait`);
    return "any";
  }
  const schema = schemaOf(output);
  return { schema, root: schema };
}

function shown(reference: Reference): string {
  return `{{ ${referenceText(reference)} }}`.slice(0, 200);
}

function textAt(template: Json, at: Path): Json | undefined {
  let value: Json | undefined = template;
  for (const key of at)
    value = typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
  return value;
}
