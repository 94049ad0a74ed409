import * as z from "zod";
import { json, jsonObject } from "./json.ts";

/** Everything a human may be asked, one record, one inbox (L8). */
export const approvalKind = z.enum([
  "tool_call",
  "client_tool",
  "workflow_node",
  "unknown_outcome",
  "elicitation",
  "tool_definition",
]);
export type ApprovalKind = z.infer<typeof approvalKind>;

export const approvalState = z.enum(["pending", "approved", "rejected", "timed_out", "cancelled"]);
export type ApprovalState = z.infer<typeof approvalState>;

export const decision = z.object({
  choice: z.string(),
  reason: z.string().optional(),
  response: json.optional(),
  edited_arguments: jsonObject.optional(),
  by: z.string(),
  at: z.number(),
  request_id: z.string().optional(),
});
export type Decision = z.infer<typeof decision>;

export const approval = z.object({
  id: z.string(),
  kind: approvalKind,
  run_id: z.string(),
  call_id: z.string().nullable(),
  tool: z.string().nullable(),
  arguments: jsonObject.nullable(),
  injected_args: z.record(z.string(), json),
  digest: z.string(),
  reasons: z.array(z.string()),
  requester: z.string(),
  choices: z.array(z.string()),
  response_schema: jsonObject.nullable(),
  /** What edited arguments have to fit, and the digest of the tool's schemas: a tool that changed needs a new decision. */
  input_schema: jsonObject.nullable().optional(),
  tool_digest: z.string().optional(),
  /** What the tool does cannot be taken back. */
  irreversible: z.literal(true).optional(),
  state: approvalState,
  requested_at: z.number(),
  deadline: z.number().nullable(),
  decision: decision.nullable(),
});
export type Approval = z.infer<typeof approval>;
