import * as z from "zod";
import { approvalKind, approvalState } from "./approval.ts";
import { failure } from "./failure.ts";
import { json, jsonObject } from "./json.ts";
import { toolOutput, userPart } from "./message.ts";
import { plan } from "./plan.ts";
import { stopReason } from "./run.ts";
import { toolResultMetadata } from "./tool.ts";
import { usage } from "./usage.ts";
import { railRecord } from "./verdict.ts";
import { NODE_KINDS } from "./workflow.ts";

/** What every durable event carries (E1). `seq` has no gaps within a run; `at` is Unix ms. */
const stamp = {
  run_id: z.string(),
  turn_ref: z.string(),
  seq: z.number().int().min(1),
  at: z.number(),
  path: z.array(z.string()).readonly(),
};

const event = <const T extends string, S extends z.ZodRawShape>(type: T, shape: S) =>
  z.object({ type: z.literal(type), ...stamp, ...shape });

export const statusEvent = event("status", {
  status: z.enum(["starting", "waiting", "parked", "completed", "error", "cancelled"]),
  /** On `completed`. */
  stop_reason: stopReason.optional(),
  reason: z.string().optional(),
  /** On `error`. */
  failure: failure.optional(),
  /** On the first event: what holds streamed text back until it has passed (R15). */
  held_by: z.array(z.string()).optional(),
});

export const stepEvent = event("step", {
  step: z.number().int(),
  state: z.enum(["started", "completed"]),
  /** On `completed`: how many rails passed without a word. */
  passed: z.number().int().optional(),
});

export const textEvent = event("text", {
  message_id: z.string(),
  text: z.string(),
  partial: z.literal(true).optional(),
  annotations: z.array(jsonObject).readonly().optional(),
});

export const reasoningEvent = event("reasoning", { message_id: z.string(), text: z.string() });

/** The model's own arguments, before any rail or human (R4). Null when they did not parse. */
export const toolCallEvent = event("tool_call", {
  message_id: z.string(),
  call_id: z.string(),
  tool: z.string(),
  arguments: jsonObject.nullable(),
  /** What the model wrote for injected arguments (T3). */
  injected_args: z.record(z.string(), json).optional(),
});

export const toolResultEvent = event("tool_result", {
  call_id: z.string(),
  tool: z.string(),
  success: z.boolean(),
  error: z.string().nullable(),
  duration_ms: z.number(),
  output: toolOutput,
  metadata: toolResultMetadata,
});

/**
 * What a request has in common with the one before it in its conversation and lane, the main one or the planner's. In the
 * order that providers read it, which their caches go by: tools, system prompt, messages.
 */
const prefix = z.object({
  /** Of the beginning that is the same, byte for byte. Where that is all of the request before, as its provider counted. */
  tokens: z.number().int().min(0),
  /**
   * What the request before had that this one has no more, or has in another way: `compaction`, `handoff to <agent>`, `tools
   * changed: +<tool> -<tool>`, `rail <name> changed the request`, `hook <name>`, `note`, `feedback`, `planner`, `instructions
   * changed`, `model changed` and the like. Null when all of it is the beginning of this one, and when there was none.
   */
  broken_by: z.string().nullable(),
});
export type Prefix = z.infer<typeof prefix>;

/** Tokens of one model call, and of the run so far. */
export const usageEvent = event("usage", {
  step: z.number().int(),
  model: z.string(),
  call: usage,
  total: usage,
  /** Of calls that a step made; summaries have none. */
  prefix: prefix.optional(),
});

export const contextEvent = event("context", {
  action: z.enum(["stubbed", "summarised", "dropped", "replaced", "skipped", "withheld", "advisory"]),
  tokens_before: z.number().int(),
  tokens_after: z.number().int(),
  detail: z.string(),
});

/** Content beside the user's message. What is transient shows here as its size only, unless `audit_transient` (H4). */
export const messageInjectedEvent = event("message_injected", {
  message_id: z.string(),
  /** The hook it came from; `user` for a message sent while the run was under way (X6). */
  source: z.string(),
  durable: z.boolean(),
  tokens: z.number().int(),
  parts: z.array(userPart).readonly().optional(),
  /** Of a message sent while the run was under way. */
  receipt: z.string().optional(),
});

export const messageRetractedEvent = event("message_retracted", {
  message_id: z.string(),
  attempt: z.number().int(),
  reason: z.string(),
});

export const planEvent = event("plan", { plan: plan.nullable(), failure: failure.optional() });

export const approvalEvent = event("approval", {
  approval_id: z.string(),
  kind: approvalKind,
  state: approvalState,
  call_id: z.string().nullable(),
  tool: z.string().nullable(),
  reasons: z.array(z.string()),
  deadline: z.number().nullable(),
  decided_by: z.string().optional(),
});

export const railEvent = event("rail", {
  point: railRecord.shape.point,
  step: z.number().int(),
  call_id: z.string().nullable(),
  records: z.array(railRecord),
});

export const subagentEvent = event("subagent", {
  child_run_id: z.string(),
  call_id: z.string(),
  index: z.number().int(),
  state: z.enum(["started", "completed"]),
  status: z.enum(["success", "error"]).optional(),
});

export const handoffEvent = event("handoff", { from: z.string(), to: z.string(), reason: z.string() });

export const artifactEvent = event("artifact", {
  artifact_id: z.string(),
  call_id: z.string().nullable(),
  media_type: z.string(),
  bytes: z.number().int(),
});

/** A node of a workflow: begun, waiting for a retry, and how it ended (W4). */
export const nodeEvent = event("node", {
  node: z.string(),
  kind: z.enum(NODE_KINDS),
  state: z.enum(["started", "retrying", "completed", "failed", "skipped"]),
  /** Which try it was, from 1. */
  attempt: z.number().int().optional(),
  /** On `completed`. */
  output: json.optional(),
  /** The edges it goes on by, where they are not those of any node that completed. */
  port: z.enum(["true", "false", "rejected", "failed"]).optional(),
  /** The run of its agent or workflow. */
  child_run_id: z.string().optional(),
  call_id: z.string().optional(),
  /** Of a map: how many items there are, and how many of them failed. */
  items: z.number().int().optional(),
  items_failed: z.number().int().optional(),
  /** What its runs used. */
  usage: usage.optional(),
  failure: failure.optional(),
  /** On `retrying`. */
  retry_in_ms: z.number().optional(),
  /** It was over in the run that this one was retried from. */
  reused: z.literal(true).optional(),
  /** On `skipped`: why. */
  reason: z.string().optional(),
});

/** A failure, when it happens. With `retry_in_ms` the run goes on by itself; without, it is about to end. */
export const errorEvent = event("error", {
  failure,
  attempt: z.number().int().optional(),
  retry_in_ms: z.number().optional(),
  /** What failed was left out and the run goes on. */
  skipped: z.literal(true).optional(),
});

/** The record of a run: written once, in order, never changed. */
export const durableEvent = z.discriminatedUnion("type", [
  statusEvent,
  stepEvent,
  textEvent,
  reasoningEvent,
  toolCallEvent,
  toolResultEvent,
  usageEvent,
  contextEvent,
  messageInjectedEvent,
  messageRetractedEvent,
  planEvent,
  approvalEvent,
  railEvent,
  subagentEvent,
  handoffEvent,
  artifactEvent,
  nodeEvent,
  errorEvent,
]);
export type DurableEvent = z.infer<typeof durableEvent>;
export type DurableEventOf<T extends DurableEvent["type"]> = Extract<DurableEvent, { type: T }>;
