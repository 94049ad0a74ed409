import * as z from "zod";
import { json } from "./json.ts";

/** Why a run or a call failed. Expected failures travel as this value; only bugs are thrown inside the loop. */
export const FAILURE_CODES = [
  // the run
  "model_failed",
  "model_unavailable",
  "output_invalid",
  "hook_failed",
  "rail_aborted",
  "budget_exceeded",
  "cancelled",
  "not_available",
  "config_invalid",
  "conversation_busy",
  "mcp_unavailable",
  "diverged",
  "recovery_failed",
  "internal",
  // one node of a workflow
  "node_failed",
  "node_timed_out",
  "node_invalid",
  // one call
  "tool_unknown",
  "tool_arguments_invalid",
  "tool_failed",
  "tool_timed_out",
  "tool_result_invalid",
  "cancelled_unknown",
  "rejected",
  "approval_timed_out",
  "unknown_outcome",
] as const;

export const failureCode = z.lazy(() => z.enum(FAILURE_CODES));
export type FailureCode = z.infer<typeof failureCode>;

export const failure = z.lazy(() =>
  z.object({
    code: failureCode,
    message: z.string(),
    details: z.record(z.string(), json).optional(),
    /** What had failed before, where this failure came on top of it. */
    cause: z.object({ code: failureCode, message: z.string() }).optional(),
  }),
);
export type Failure = z.infer<typeof failure>;
