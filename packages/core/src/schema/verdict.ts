import * as z from "zod";
import { json, jsonObject } from "./json.ts";

/** The lifecycle points (R2). Wire values equal the names. */
export const HOOK_POINTS = [
  "START",
  "FINISHED",
  "ERROR",
  "PRE_LLM_CALL",
  "POST_LLM_CALL",
  "PRE_TOOL_CALL",
  "POST_TOOL_CALL",
  "MODEL_ERROR",
  "TOOL_ERROR",
  "HANDOFF",
  "CONTEXT_WINDOW",
] as const;
export const hookPoint = z.enum(HOOK_POINTS);
export type HookPoint = z.infer<typeof hookPoint>;

export const railAction = z.enum(["continue", "skip", "retry", "abort"]);
export type RailAction = z.infer<typeof railAction>;

export const retryRequest = z.object({
  delay: z.number().min(0),
  max_retries: z.number().int().min(0),
  reason: z.string(),
});

/** One write to a run's rail state (R5), applied in delivery order. */
export const stateOperation = z.discriminatedUnion("op", [
  z.object({ op: z.literal("set"), key: z.string(), value: json }),
  z.object({ op: z.literal("add"), key: z.string(), value: z.number() }),
  z.object({ op: z.literal("append"), key: z.string(), value: json }),
]);
export type StateOperation = z.infer<typeof stateOperation>;

/** What one rail said at one point (R6, R12). */
export const railRecord = z.object({
  rail: z.string(),
  point: hookPoint,
  action: z.enum(["continue", "skip", "retry", "abort", "ask"]),
  reason: z.string(),
  attempt: z.number().int(),
  duration_ms: z.number(),
  shadow: z.boolean(),
  alert: z.string().optional(),
});
export type RailRecord = z.infer<typeof railRecord>;

/** The outcome of one dispatch. `patch` edits messages by id; bodies never travel with it. */
export const verdict = z.object({
  action: railAction,
  rail: z.string().nullable(),
  reason: z.string(),
  retry: retryRequest.optional(),
  replacement: json.optional(),
  asks: z.array(z.object({ rail: z.string(), reason: z.string() })),
  records: z.array(railRecord),
  state: z.array(stateOperation),
  patch: jsonObject.optional(),
});
export type Verdict = z.infer<typeof verdict>;
