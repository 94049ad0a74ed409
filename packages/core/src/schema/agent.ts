import * as z from "zod";
import { hookPoint } from "./hook-point.ts";
import { strictJsonObject } from "./json.ts";
import { parseModelString } from "./model-string.ts";
import { once } from "./once.ts";
import type { NodeRetry, WorkflowDefinition, WorkflowEdge, WorkflowNode, WorkflowWork } from "./workflow.ts";

const FORBIDDEN_KEYS = ["__proto__", "constructor", "prototype"];

/** The schemas of a definition. Made when first asked for: that takes as long as loading the rest of the package. */
export const agentSchemas = once(() => {
  /** `provider:model` (A6). The problem names the known providers. */
  const modelString = z.string().superRefine((text, ctx) => {
    const parsed = parseModelString(text);
    if (!parsed.ok)
      ctx.addIssue({ code: "custom", message: parsed.problem, params: { allowed: parsed.allowed } });
  });

  const name = z.string().regex(/^[^\s/](?:[^/\n]{0,126}[^\s/])?$/, {
    error: "1 to 128 characters on one line, without '/' or outer spaces",
  });

  const registeredName = z.string().min(1, { error: "the name of something registered" });

  const budgetAwareness = z.string().regex(/^per-message$|^limit:(0|[1-9]\d?|100)$/, {
    error: '"per-message", or "limit:<n>" with n from 0 to 100',
  });

  const injectedToolArgs = z.custom<Readonly<Record<string, string>>>().superRefine((value, ctx) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      ctx.addIssue({ code: "custom", message: "an object of argument names and descriptions" });
      return;
    }
    for (const [key, description] of Object.entries(value)) {
      if (FORBIDDEN_KEYS.includes(key) || !/^[A-Za-z0-9_.-]{1,64}$/.test(key)) {
        const message = `argument names of 1 to 64 letters, digits, '_', '.', '-', other than ${FORBIDDEN_KEYS.join(", ")}`;
        ctx.addIssue({ code: "custom", path: [key], message, params: { given: key } });
      }
      if (typeof description !== "string") {
        ctx.addIssue({ code: "custom", path: [key], message: "a description (string)" });
      }
    }
  });

  const railReference = z.strictObject({
    use: registeredName,
    name: name.optional(),
    on: z.array(hookPoint).optional(),
    options: strictJsonObject.optional(),
    priority: z.number().int().optional(),
    mode: z.enum(["enforce", "shadow"]).optional(),
    on_error: z.enum(["abort", "continue"]).optional(),
    timeout_ms: z.number().int().min(1).optional(),
  });

  const hookReference = z.strictObject({
    use: registeredName,
    options: strictJsonObject.optional(),
    durable: z.boolean().optional(),
    critical: z.boolean().optional(),
    timeout_ms: z.number().int().min(1).optional(),
  });

  const hookReferences = z.strictObject({
    pre: z
      .array(z.union([hookReference, z.strictObject({ parallel: z.array(hookReference).min(1) })]))
      .optional(),
    post: z.array(hookReference).optional(),
    stream: z.array(hookReference).optional(),
    on: z.partialRecord(hookPoint, z.array(hookReference)).optional(),
  });

  const secretOrText = z.union([z.string(), z.strictObject({ secret: z.string().min(1) })]);

  const mcpServer = z.strictObject({
    name: z.string().regex(/^[A-Za-z0-9-]{1,64}$/, { error: "1 to 64 letters, digits or '-'" }),
    command: z.string().min(1).optional(),
    args: z.array(z.string()).optional(),
    env: z.record(z.string(), secretOrText).optional(),
    url: z.string().min(1).optional(),
    headers: z.record(z.string(), secretOrText).optional(),
    include: z.array(z.string()).optional(),
    exclude: z.array(z.string()).optional(),
    rename: z.record(z.string(), z.string()).optional(),
    trusted: z.boolean().optional(),
  });

  const wholeNumber = (min: number) => z.number().int().min(min);

  /** The base fields and the nine of seed 002, always written, in this order (A1). */
  const contractFields = {
    name,
    model: modelString,
    instructions: z.string().default(""),
    max_steps: wholeNumber(1).default(20),
    temperature: z.number().min(0).nullable().default(null),
    max_tokens: wholeNumber(1).nullable().default(null),
    planning_enabled: z.boolean().default(false),
    planning_model: modelString.nullable().default(null),
    planning_instructions: z.string().default(""),
    budget_awareness: budgetAwareness.nullable().default(null),
    hitl_tools: z.array(registeredName).readonly().default([]),
    emit_mcp_progress: z.boolean().default(true),
    injected_tool_args: injectedToolArgs.default({}),
    allow_parallel_subagents: z.boolean().default(false),
    max_parallel_subagents: wholeNumber(1).max(7).default(3),
  };

  /** Our own fields (A5), written only where they differ from their default. */
  const ownFields = {
    tools: z.array(registeredName).readonly().nullable().default(null),
    mcp_servers: z.array(mcpServer).readonly().default([]),
    handoffs: z.array(registeredName).readonly().default([]),
    rails: z.array(railReference).readonly().default([]),
    hooks: hookReferences.default({}),
    output_schema: strictJsonObject.nullable().default(null),
    context_window_tokens: wholeNumber(1).nullable().default(null),
    injection_reserve_tokens: wholeNumber(0).default(4000),
    hitl_timeout_seconds: z.number().positive().nullable().default(3600),
    max_regenerations: wholeNumber(0).default(2),
    allow_self_spawn: z.boolean().default(false),
    offload_above_bytes: wholeNumber(0).default(32768),
    stream_release: z.enum(["auto", "live", "after_rails"]).default("auto"),
    fallback_models: z.array(modelString).readonly().default([]),
    audit_transient: z.boolean().default(false),
  };

  /** An agent as JSON. The one schema of construction, `fromJSON`, HTTP, CLI, workers and the web form (A3). */
  const agentDefinition = z.strictObject({ ...contractFields, ...ownFields });
  return {
    agentDefinition,
    name,
    registeredName,
    railReference,
    hookReference,
    hookReferences,
    mcpServer,
    contractFields: Object.keys(contractFields) as (keyof typeof contractFields)[],
    ownFields: Object.keys(ownFields) as (keyof typeof ownFields)[],
    /** The default of each of our own fields, for leaving them out when nothing was changed. */
    ownDefaults: z.object(ownFields).parse({}),
  };
});

type Schemas = ReturnType<typeof agentSchemas>;
export type AgentDefinition = Readonly<z.infer<Schemas["agentDefinition"]>> & {
  /** What a run of a workflow is pinned to is written in the same place. No agent has it: the schema refuses it. */
  readonly workflow?: WorkflowDefinition;
};
export type AgentDefinitionInput = z.input<Schemas["agentDefinition"]>;

/** What a run is fixed to when it starts: later edits of the agent do not reach it (X2). */
export interface PinnedAgent {
  readonly definition: AgentDefinition;
  /** The points somebody listens on; the loop asks for no dispatch on the others. */
  readonly points: readonly z.infer<typeof hookPoint>[];
  /** Whether there is a turn pipeline before the first model call, and after an answer. */
  readonly pre_hooks: boolean;
  readonly post_hooks: boolean;
  /** Who holds streamed text back until it has passed (R15). */
  readonly held_by: readonly string[];
  /** Whether it has tools that come from servers, which are connected when a run begins. */
  readonly servers: boolean;
  /** Agents the turn may be handed to, by name, and theirs (S7). */
  readonly team: Readonly<Record<string, PinnedAgent>>;
  /** It is no agent but a workflow: what the loop has to know of its graph (W4). */
  readonly graph?: PinnedGraph;
}

/** The nodes and edges of a workflow without what is in them: that stays where effects are performed. */
export interface PinnedGraph {
  readonly nodes: Readonly<Record<string, PinnedNode>>;
  readonly edges: readonly WorkflowEdge[];
  /** The nodes whose outputs the workflow's own is made of. */
  readonly reads: readonly string[];
}

export interface PinnedNode {
  readonly kind: WorkflowNode["kind"];
  readonly retry?: NodeRetry | undefined;
  readonly timeout_ms?: number | undefined;
  /** Of a map. */
  readonly concurrency?: number;
  readonly on_error?: "fail" | "collect";
  readonly does?: WorkflowWork["kind"];
  /** The nodes whose outputs it reads. */
  readonly reads?: readonly string[];
}
