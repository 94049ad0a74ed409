import * as z from "zod";
import { frozenCopy } from "../schema/json.ts";
import { plainCopy } from "../schema/plain-copy.ts";
import type { ConfigIssue } from "../schema/problems.ts";
import {
  NODE_KINDS,
  type WorkflowDefinition,
  type WorkflowNode,
  workflowSchemas,
} from "../schema/workflow.ts";
import { issuesOf } from "../schema/zod-problems.ts";
import type { Catalog } from "./check/catalog.ts";
import { withOneFormEach } from "./check/condition-forms.ts";
import { type Draft, draftOf, readDraft } from "./check/draft.ts";
import { checkEdges } from "./check/edges.ts";
import { isRecord } from "./check/is-record.ts";
import { Issues } from "./check/issues.ts";
import { knownKeysIn } from "./check/known-keys.ts";
import { NodeChecks } from "./check/nodes.ts";
import { checkSchema } from "./check/schemas.ts";
import { type Shapes, sourceOf } from "./check/scope.ts";
import { checkSubWorkflows } from "./check/sub-workflows.ts";
import { graphOf } from "./graph.ts";
import { misfitsOf } from "./misfits.ts";
import { type NodeOutput, outputOf } from "./output-of.ts";
import { outputOf as outputTemplate } from "./pinned-graph.ts";
import { kindsText, OBJECT } from "./schema-kinds.ts";
import { SchemaWalk } from "./schema-walk.ts";

export type { Catalog } from "./check/catalog.ts";
export { type NodeOutput, outputOf } from "./output-of.ts";

export type CheckedWorkflow =
  | { readonly ok: true; readonly definition: WorkflowDefinition }
  | { readonly ok: false; readonly issues: readonly ConfigIssue[] };

/** Checks a workflow and everything it refers to. Finds every problem, not only the first (W4). */
export function checkWorkflow(raw: unknown, catalog: Catalog): CheckedWorkflow {
  const { copy: plain, issues: unreadable } = plainCopy(raw);
  const issues = new Issues();
  for (const found of unreadable) issues.add(found);
  const copy = withOneFormEach(plain, issues);
  const parsed = workflowSchemas().workflowDefinition.safeParse(copy);
  if (!parsed.success) addSchemaIssues(parsed.error, copy, unreadable, issues);
  const draft = parsed.success ? draftOf(parsed.data) : isRecord(copy) ? readDraft(copy) : undefined;
  if (draft !== undefined) checkDraft(draft, withItself(catalog, parsed.data), issues);
  if (parsed.success && issues.all.length === 0) return { ok: true, definition: frozenCopy(parsed.data) };
  return { ok: false, issues: issues.all };
}

function checkDraft(draft: Draft, catalog: Catalog, issues: Issues): void {
  if (draft.nodes.size === 0 && !issues.isAt("nodes"))
    issues.tell(["nodes"], "at least one node", "none given");
  checkEdges(draft, issues);
  checkSubWorkflows(draft, catalog, issues);
  checkInput(draft, issues);
  const shapes = shapesOf(draft, catalog);
  const checks = new NodeChecks(draft.name, catalog, shapes, issues);
  for (const [id, node] of draft.nodes) if (node !== undefined && !issues.isFull) checks.check(id, node);
  checkOutput(draft, shapes, issues);
  checkNames(draft, catalog, issues);
}

/** A fraction of a second, and far more than schemas that were not made to be slow ever need. */
const MOST_STEPS = 250_000;

function shapesOf({ nodes, edges, input }: Draft, catalog: Catalog): Shapes {
  const outputs = new Map<string, NodeOutput>();
  const sound = edges.flatMap((edge) => edge ?? []);
  const allowance = { left: MOST_STEPS };
  return {
    graph: graphOf({ nodes: Object.fromEntries(nodes), edges: sound }),
    input: input ? { schema: input, root: input } : "any",
    outputOf(id) {
      const node = nodes.get(id);
      const output = outputs.get(id) ?? (node === undefined ? "any" : outputOf(node, catalog));
      outputs.set(id, output);
      return output;
    },
    walk: () => new SchemaWalk(allowance),
  };
}

/** A run is started with an object. */
function checkInput({ input }: Draft, issues: Issues): void {
  checkSchema(input, ["input"], issues);
  if (!input) return;
  const kinds = new SchemaWalk().kinds({ schema: input, root: input });
  if ((kinds & OBJECT) === 0)
    issues.tell(["input"], "the JSON Schema of an object", `one of ${kindsText(kinds)} given`);
}

function checkOutput({ output, output_schema, whole }: Draft, shapes: Shapes, issues: Issues): void {
  checkSchema(output_schema, ["output_schema"], issues);
  const template = output ?? (whole && outputTemplate(whole));
  if (template === undefined) return;
  const source = sourceOf(template, ["output"], { shapes }, issues);
  if (!output_schema) return;
  for (const misfit of misfitsOf(source, { schema: output_schema, root: output_schema }, shapes.walk()))
    issues.misfit(["output"], misfit);
}

function checkNames({ nodes, rails, hitl_tools }: Draft, catalog: Catalog, issues: Issues): void {
  for (const [i, use] of rails.entries())
    if (catalog.rails !== null && use !== "" && !catalog.rails.has(use))
      issues.stranger(["rails", i, "use"], "a registered rail", use, catalog.rails);
  const used = toolsIn([...nodes.values()], catalog);
  const seen = new Set<string>();
  for (const [i, name] of hitl_tools.entries()) {
    if (name === "") continue;
    const isKnown = used === null || used.has(name) || name.startsWith("mcp__");
    if (!isKnown) issues.stranger(["hitl_tools", i], "a tool of a node or of an agent in it", name, used);
    else if (seen.has(name)) issues.refuse(["hitl_tools", i], "each name once", name);
    seen.add(name);
  }
}

/** Every tool that is called in it: by its own nodes, by its agents and by workflows in it. Null where nobody knows. */
function toolsIn(
  nodes: readonly (WorkflowNode | undefined)[],
  catalog: Catalog,
  seen = new Set<string>(),
): ReadonlySet<string> | null {
  const tools = new Set<string>();
  for (const node of nodes) {
    if (node === undefined) return null;
    for (const name of toolsOf(node)) tools.add(name);
    const work = node.kind === "map" ? node.do : node;
    if (work.kind === "agent") {
      const its = catalog.agents?.get(work.agent)?.tools;
      if (its === undefined) return null;
      for (const name of its) tools.add(name);
    }
    if (work.kind === "workflow" && !seen.has(work.workflow)) {
      seen.add(work.workflow);
      const inner = catalog.workflows?.get(work.workflow);
      const its = inner && toolsIn(Object.values(inner.nodes), catalog, seen);
      if (!its) return null;
      for (const name of its) tools.add(name);
    }
  }
  return tools;
}

function toolsOf(node: WorkflowNode): readonly string[] {
  if (node.kind === "tool") return [node.tool];
  return node.kind === "map" && node.do.kind === "tool" ? [node.do.tool] : [];
}

/** What is being saved counts, and not what was saved under its name before. */
function withItself(catalog: Catalog, definition: WorkflowDefinition | undefined): Catalog {
  if (catalog.workflows === null || definition === undefined) return catalog;
  return { ...catalog, workflows: new Map([...catalog.workflows, [definition.name, definition]]) };
}

function addSchemaIssues(
  error: z.ZodError,
  copy: unknown,
  told: readonly ConfigIssue[],
  issues: Issues,
): void {
  const paths = new Set(told.map(({ path }) => path));
  const readable = new z.ZodError(error.issues.map(inWords));
  for (const found of issuesOf(readable, copy, knownKeysIn(copy)))
    if (!paths.has(found.path)) issues.add(found);
}

/** Two problems of which zod tells where they are, but not what would be right. */
function inWords(found: z.core.$ZodIssue): z.core.$ZodIssue {
  if (found.code === "invalid_union" && found.errors.length === 0) {
    const kinds = found.path.at(-2) === "do" ? WORK_KINDS : NODE_KINDS;
    return { ...found, code: "invalid_value", values: [...kinds] };
  }
  if (found.code !== "invalid_key") return found;
  const [why] = found.issues;
  const params = { given: found.path.at(-1), allowed: why?.message ?? found.message };
  return { code: "custom", path: found.path, message: found.message, params };
}

const WORK_KINDS = ["agent", "tool", "workflow"];
