import * as z from "zod";
import { agentSchemas } from "./agent.ts";
import { type Json, strictJson, strictJsonObject } from "./json.ts";
import { once } from "./once.ts";

/** How large a workflow may be. */
export const MOST_NODES = 1_000;
export const MOST_EDGES = 5_000;
/** A map works on so many items at most. */
export const MOST_ITEMS = 10_000;

/** How the two sides of a comparison are compared. `exists` and `empty` look at the left side alone. */
export const COMPARISONS = ["==", "!=", ">", ">=", "<", "<=", "contains", "in", "exists", "empty"] as const;
export type Comparison = (typeof COMPARISONS)[number];

/** What a condition node decides by: comparisons, put together. Sides are templates. */
export type Condition =
  | { readonly all: readonly Condition[] }
  | { readonly any: readonly Condition[] }
  | { readonly not: Condition }
  | { readonly left: Json; readonly op: Comparison; readonly right?: Json | undefined };

/**
 * The schemas of a workflow. Wherever a template may be, a text may hold `{{ path }}`: a text that is nothing else becomes
 * the value it stands for, any other gets it as text. Paths begin with `input`, `nodes.<id>`, and within a map `item` or
 * `index`. `{{ path? }}` stands for null where there is nothing; without the `?` the node fails.
 * `\{{` is two braces as they are.
 */
export const workflowSchemas = once(() => {
  const { name, registeredName, railReference } = agentSchemas();

  const nodeId = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, {
    error: "a letter, then up to 63 letters, digits, '_' or '-'",
  });
  const milliseconds = z.number().int().min(1).max(31_536_000_000, { error: "a year at most" });
  const seconds = z.number().min(0).max(31_536_000, { error: "a year at most" });

  const retry = z.strictObject({
    /** All tries, the first one included. */
    attempts: z.number().int().min(1).max(10),
    delay_ms: z.number().int().min(0).max(3_600_000).default(1_000),
    /** Each wait is so many times the one before. */
    backoff: z.number().min(1).max(10).default(2),
  });

  /** What every node may have. `position` is where the canvas shows it. */
  const common = {
    name: z.string().min(1).max(128).optional(),
    retry: retry.optional(),
    timeout_ms: milliseconds.optional(),
    position: z.strictObject({ x: z.number(), y: z.number() }).optional(),
  };

  const agentWork = { kind: z.literal("agent"), agent: registeredName, prompt: z.string().min(1) };
  const toolWork = {
    kind: z.literal("tool"),
    tool: registeredName,
    arguments: strictJsonObject.default({}),
  };
  const workflowWork = {
    kind: z.literal("workflow"),
    workflow: registeredName,
    input: strictJsonObject.default({}),
  };

  /** What a map does with each item. */
  const work = z.discriminatedUnion("kind", [
    z.strictObject(agentWork),
    z.strictObject(toolWork),
    z.strictObject(workflowWork),
  ]);

  const condition: z.ZodType<Condition> = z.lazy(() =>
    z.union([
      z.strictObject({ all: z.array(condition).min(1).max(50) }),
      z.strictObject({ any: z.array(condition).min(1).max(50) }),
      z.strictObject({ not: condition }),
      z.strictObject({ left: strictJson, op: z.enum(COMPARISONS), right: strictJson.optional() }),
    ]),
  );

  const deadline = z.number().positive().max(31_536_000).nullable();

  const node = z.discriminatedUnion("kind", [
    z.strictObject({ ...agentWork, ...common }),
    z.strictObject({ ...toolWork, ...common }),
    z.strictObject({ ...workflowWork, ...common }),
    z.strictObject({ kind: z.literal("condition"), if: condition, ...common }),
    z.strictObject({
      kind: z.literal("map"),
      /** A list. */
      over: z.string().min(1),
      do: work,
      concurrency: z.number().int().min(1).max(50).default(5),
      /** Whether one item that fails is the node's failure, or an entry that says so. */
      on_error: z.enum(["fail", "collect"]).default("fail"),
      ...common,
    }),
    z.strictObject({
      kind: z.literal("approval"),
      /** What is asked; a template. */
      message: z.string().min(1),
      /** What whoever decides is shown beside it. */
      show: strictJsonObject.default({}),
      /** What they have to fill in: a JSON Schema. Their answer is the node's output. */
      response: strictJsonObject.nullable().default(null),
      deadline_seconds: deadline.default(86_400),
      /** What follows cannot be taken back. */
      irreversible: z.boolean().default(false),
      ...common,
    }),
    z.strictObject({
      kind: z.literal("wait"),
      for: z.union([
        z.strictObject({ seconds: z.union([seconds, z.string().min(1)]) }),
        z.strictObject({
          /** Somebody sends something to the node's own address; what they send is its output. */
          webhook: z.strictObject({
            response: strictJsonObject.nullable().default(null),
            deadline_seconds: deadline.default(86_400),
          }),
        }),
      ]),
      ...common,
    }),
  ]);

  const edge = z.strictObject({
    from: nodeId,
    to: nodeId,
    /**
     * After a condition `true` or `false`; `rejected` after an approval that was rejected or timed out; `failed` after any
     * node that failed. Without it, after one that completed.
     */
    when: z.enum(["true", "false", "rejected", "failed"]).optional(),
  });

  /** A workflow as JSON. The one schema of code, HTTP, CLI, workers and the canvas (W4). */
  const workflowDefinition = z.strictObject({
    name,
    description: z.string().max(2_000).default(""),
    /** JSON Schema of what a run is started with; null for any object. */
    input: strictJsonObject.nullable().default(null),
    nodes: z.record(nodeId, node).refine((nodes) => Object.keys(nodes).length <= MOST_NODES, {
      error: `${MOST_NODES} nodes at most; put a part of it into a workflow of its own`,
    }),
    edges: z.array(edge).max(MOST_EDGES).readonly().default([]),
    /** What it comes to, as a template; null for the outputs of its last nodes, by their ids. */
    output: strictJson.nullable().default(null),
    output_schema: strictJsonObject.nullable().default(null),
    /** Guards of the whole run: of its own tool calls, and of every agent and workflow in it (R14). */
    rails: z.array(railReference).readonly().default([]),
    hitl_tools: z.array(registeredName).readonly().default([]),
    hitl_timeout_seconds: z.number().positive().nullable().default(3600),
  });

  return { workflowDefinition, node, edge, condition, work, retry, nodeId };
});

type Schemas = ReturnType<typeof workflowSchemas>;
export type WorkflowDefinition = Readonly<z.infer<Schemas["workflowDefinition"]>>;
export type WorkflowDefinitionInput = z.input<Schemas["workflowDefinition"]>;
export type WorkflowNode = z.infer<Schemas["node"]>;
export type WorkflowNodeOf<K extends WorkflowNode["kind"]> = Extract<WorkflowNode, { kind: K }>;
export type WorkflowEdge = z.infer<Schemas["edge"]>;
/** What a map does with each item. */
export type WorkflowWork = z.infer<Schemas["work"]>;
export type NodeRetry = z.infer<Schemas["retry"]>;
export const NODE_KINDS = ["agent", "tool", "condition", "map", "approval", "wait", "workflow"] as const;
