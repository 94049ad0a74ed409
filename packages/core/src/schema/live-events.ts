import * as z from "zod";

/** What every live event carries (E1): shown while it happens, never stored, superseded by a durable event. */
const moment = {
  run_id: z.string(),
  turn_ref: z.string(),
  path: z.array(z.string()).readonly(),
  after_seq: z.number().int(),
  attempt: z.number().int(),
};

export const textDelta = z.object({
  type: z.literal("text_delta"),
  ...moment,
  message_id: z.string(),
  offset: z.number().int(),
  text: z.string(),
});

export const reasoningDelta = z.object({
  type: z.literal("reasoning_delta"),
  ...moment,
  message_id: z.string(),
  offset: z.number().int(),
  text: z.string(),
});

export const toolInputDelta = z.object({
  type: z.literal("tool_input_delta"),
  ...moment,
  message_id: z.string(),
  call_id: z.string(),
  tool: z.string(),
  offset: z.number().int(),
  text: z.string(),
});

/** `server` is null for a tool of ours that called `progress()`. */
export const mcpProgress = z.object({
  type: z.literal("mcp_progress"),
  ...moment,
  call_id: z.string(),
  offset: z.number().int(),
  server: z.string().nullable(),
  progress: z.number(),
  total: z.number().nullable(),
  message: z.string().nullable(),
});

export const liveEvent = z.discriminatedUnion("type", [
  textDelta,
  reasoningDelta,
  toolInputDelta,
  mcpProgress,
]);
export type LiveEvent = z.infer<typeof liveEvent>;
export type LiveEventOf<T extends LiveEvent["type"]> = Extract<LiveEvent, { type: T }>;
