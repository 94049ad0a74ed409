import * as z from "zod";
import { json } from "./json.ts";
import { outcome } from "./run.ts";
import { usage } from "./usage.ts";

/** What opened a turn. The message itself is in the run's record; the loop knows it by id. */
export const turn = z.object({
  run_id: z.string(),
  turn_ref: z.string(),
  /** Position of the conversation's log when the turn began. */
  log: z.number().int().min(0),
  message_id: z.string(),
});
export type TurnStart = z.infer<typeof turn>;

/**
 * Everything the loop knows between two effects: small JSON, no transcript. A run restarted from this value at a step
 * boundary goes on as if nothing had happened.
 */
export const turnState = z.object({
  v: z.literal(1),
  /** `refreshing`: retried from a step whose transient parts are gone; pre-hooks make them again (X13). */
  phase: z.enum(["opening", "refreshing", "stepping"]),
  step: z.number().int().min(0),
  log: z.number().int().min(0),
  projection: z.string().nullable(),
  /** Transient parts of this turn, and the position of the user's message they follow. */
  tail: z.array(z.string()),
  tail_at: z.number().int(),
  tokens: z.number().int().min(0),
  usage,
  rails: z.record(z.string(), json),
  plan: z.string().nullable(),
  open: z.array(z.string()),
  /** Rails of this step that passed without a word. */
  passed: z.number().int(),
  /** Draft and feedback carried into the next request after a rejected answer. */
  redo: z.object({ message_id: z.string(), feedback: z.string() }).nullable(),
  repairs: z.number().int().min(0),
  regenerations: z.number().int().min(0),
  outcome: outcome.nullable(),
});
export type TurnState = z.infer<typeof turnState>;
