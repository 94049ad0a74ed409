import * as z from "zod";
import { failure } from "./failure.ts";
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
  /** Transient parts of this turn, and the position of the user's message they follow. */
  tail: z.array(z.string()),
  tail_at: z.number().int(),
  /** Position of the first message that this turn put into the log. */
  turn_at: z.number().int().default(0),
  /** The last request's size: as the provider reported it, and as it had been estimated (B6). */
  anchor: z
    .object({
      reported: z.number(),
      estimated: z.number(),
      /** The log is sent in another way since: the next request does not merely add to that one. */
      moved: z.literal(true).optional(),
    })
    .nullable()
    .default(null),
  usage,
  rails: z.record(z.string(), json),
  /** What the planner left for the executor, by the message it is in (P2). */
  plan: z.string().nullable(),
  /** Notes for the next model call only. */
  notes: z.array(z.string()).default([]),
  /** Those the turn was handed to, `one/after/another`; null while it is the agent's it was given to (S7). */
  agent: z.string().nullable().default(null),
  handoffs: z.array(z.object({ from: z.string(), to: z.string() })).default([]),
  open: z.array(z.string()),
  /** Rails of this step that passed without a word. */
  passed: z.number().int(),
  /** Draft and feedback carried into the next request after a rejected answer. */
  redo: z.object({ message_id: z.string(), feedback: z.string() }).nullable(),
  repairs: z.number().int().min(0),
  regenerations: z.number().int().min(0),
  outcome: outcome.nullable(),
  /** Of a workflow: the nodes that are over. Those that are not are found again by what is (W4). */
  flow: z
    .object({
      settled: z.number().int().min(0),
      nodes: z.record(
        z.string(),
        z.object({
          state: z.enum(["completed", "failed", "skipped"]),
          /** The edges it goes on by, where they are not the usual ones. */
          port: z.enum(["true", "false", "rejected", "failed"]).optional(),
          /** The message its output is in. */
          message_id: z.string().optional(),
          failure: failure.optional(),
        }),
      ),
    })
    .optional(),
});
export type TurnState = z.infer<typeof turnState>;
