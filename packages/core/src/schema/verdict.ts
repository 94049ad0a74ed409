import * as z from "zod";
import { hookPoint } from "./hook-point.ts";
import { json } from "./json.ts";
import { usage } from "./usage.ts";

export const railAction = z.enum(["continue", "skip", "retry", "abort"]);

export const retryRequest = z.object({
  delay: z.number().min(0),
  max_retries: z.number().int().min(0),
  reason: z.string(),
});

/** The rail that wrote. Rows from before the limit was checked on delivery have none. */
const by = z.string().optional();

/** One write to a run's rail state (R5), applied in delivery order. */
export const stateOperation = z.discriminatedUnion("op", [
  z.object({ op: z.literal("set"), key: z.string(), value: json, by }),
  z.object({ op: z.literal("add"), key: z.string(), value: z.number(), by }),
  z.object({ op: z.literal("append"), key: z.string(), value: json, by }),
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

/** The outcome of one dispatch. What rails changed is not in it: it stays with the message or call it belongs to. */
export const verdict = z.object({
  point: hookPoint,
  action: railAction,
  /** Who decided; null for a continue. */
  rail: z.string().nullable(),
  reason: z.string(),
  retry: retryRequest.optional(),
  replacement: json.optional(),
  records: z.array(railRecord).readonly(),
  state: z.array(stateOperation).readonly(),
  /** How many rails passed without a word. */
  passed: z.number().int(),
  /** What rails spent on models of their own. */
  usage: usage.optional(),
});
export type Verdict = z.infer<typeof verdict>;
