import * as z from "zod";
import { failure } from "./failure.ts";
import { json } from "./json.ts";
import { usage } from "./usage.ts";

export const stopReason = z.lazy(() => z.enum(["answered", "max_steps", "budget", "halted", "skipped"]));
export type StopReason = z.infer<typeof stopReason>;

/** How a run ended. */
export const outcome = z.lazy(() =>
  z.discriminatedUnion("status", [
    z.object({
      status: z.literal("completed"),
      stop_reason: stopReason,
      message_id: z.string().nullable(),
      reason: z.string().optional(),
    }),
    z.object({ status: z.literal("error"), failure }),
    z.object({ status: z.literal("cancelled"), reason: z.string() }),
  ]),
);
export type Outcome = z.infer<typeof outcome>;

/** JSON, read-only, never shown to the model; `tenant` is the isolation key of every query (H1). */
export const scope = z.lazy(() => z.object({ tenant: z.string().min(1) }).catchall(json));
export type Scope = z.infer<typeof scope>;

export const runStatus = z.lazy(() =>
  z.enum(["queued", "running", "waiting", "parked", "completed", "error", "cancelled"]),
);

/** The execution record of one turn, or of one workflow. */
export const run = z.lazy(() =>
  z.object({
    id: z.string(),
    kind: z.enum(["agent", "workflow"]),
    agent: z.string(),
    definition_digest: z.string().nullable(),
    conversation_id: z.string(),
    turn_ref: z.string(),
    parent_run_id: z.string().nullable(),
    retried_from: z.string().nullable(),
    scope,
    status: runStatus,
    outcome: outcome.nullable(),
    usage,
    created_at: z.number(),
    ended_at: z.number().nullable(),
  }),
);
export type Run = z.infer<typeof run>;
