import * as z from "zod";
import { json, jsonObject } from "./json.ts";

/** What the outside world may have noticed of a tool that was interrupted (T5, X3). */
export const toolEffect = z.lazy(() => z.enum(["none", "idempotent", "once"]));
export type ToolEffect = z.infer<typeof toolEffect>;

export const approvalStatus = z.lazy(() => z.enum(["not_required", "approved", "rejected", "timed_out"]));
export type ApprovalStatus = z.infer<typeof approvalStatus>;

/** The record every tool result carries (seed 002 §7, T2). Never sent to the model. Times are Unix ms. */
export const toolResultMetadata = z.lazy(() =>
  z.object({
    status: z.enum(["success", "error", "rejected", "timed_out"]),
    started_at: z.number(),
    completed_at: z.number(),
    execution_time_ms: z.number(),
    approval_status: approvalStatus,
    approval_id: z.string().nullable(),
    injected_args: z.record(z.string(), json),
    offloaded_artifact_id: z.string().nullable(),
    approval_wait_ms: z.number(),
    attempts: z.number().int(),
    skipped_by: z.string().nullable(),
    /** The model's own arguments, when a human or a rail changed them. */
    original_args: jsonObject.nullable(),
  }),
);
export type ToolResultMetadata = z.infer<typeof toolResultMetadata>;

/** A tool as it is written down: in a pinned definition, over HTTP, in the registry. */
export const toolDescriptor = z.lazy(() =>
  z.object({
    name: z.string(),
    description: z.string(),
    input_schema: jsonObject,
    output_schema: jsonObject.nullable(),
    executor: z.enum(["server", "client"]),
    effect: toolEffect,
    on_unknown: z.enum(["ask", "fail"]),
    timeout_ms: z.number().nullable(),
    exclusive: z.boolean(),
    child_safe: z.boolean(),
    /** There only when it is. */
    irreversible: z.literal(true).optional(),
  }),
);
export type ToolDescriptor = z.infer<typeof toolDescriptor>;

/** One call as the loop sees it: no arguments, those stay in the message it came with. */
export const call = z.lazy(() =>
  z.object({
    id: z.string(),
    index: z.number().int(),
    tool: z.string(),
    /** Runs with no other call beside it. */
    exclusive: z.boolean().optional(),
    /** Calls with the same key run one after another. */
    resource: z.string().optional(),
  }),
);
export type Call = z.infer<typeof call>;
