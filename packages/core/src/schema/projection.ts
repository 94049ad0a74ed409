import * as z from "zod";
import { assistantMessage, message, toolMessage, userMessage } from "./message.ts";

/** A stretch of the log that is not sent as it stands: positions in the log, `to` not included. */
export const cut = z.lazy(() =>
  z
    .object({
      from: z.number().int().min(0),
      to: z.number().int().min(1),
      /** What is sent instead; null when nothing is. */
      summary: z.string().nullable(),
      /** What a rail wants sent instead (R4). */
      messages: z.array(message).readonly().optional(),
    })
    .refine(({ from, to }) => from < to, "`to` comes after `from`"),
);

/**
 * An entry of the log that says how what lies before it is sent from here on (B4). The log itself is never edited, and
 * being part of it this belongs to its branch. Nobody sees it: the last one before a position is in force there.
 */
export const projection = z.lazy(() =>
  z.object({
    id: z.string(),
    role: z.literal("projection"),
    /** Oldest first, apart from one another. */
    cuts: z.array(cut).readonly(),
    /** Tool results before this position are sent as stubs. */
    stubs_to: z.number().int().min(0),
    /** The request's estimated size before and after. */
    tokens_before: z.number().int(),
    tokens_after: z.number().int(),
  }),
);

/** One entry of a conversation's log: a message, or how the messages before it are sent. */
export const logEntry = z.lazy(() =>
  z.discriminatedUnion("role", [userMessage, assistantMessage, toolMessage, projection]),
);

export type Cut = z.infer<typeof cut>;
export type Projection = z.infer<typeof projection>;
export type LogEntry = z.infer<typeof logEntry>;

/** What is wrong with a projection at its place in a log; undefined when nothing is. */
export function projectionProblem({ cuts, stubs_to }: Projection, at: number): string | undefined {
  let end = 0;
  for (const { from, to } of cuts) {
    if (from < end) return `a cut from ${from} begins before the one that ends at ${end}`;
    end = to;
  }
  const reach = Math.max(end, stubs_to);
  return reach > at ? `it reaches to ${reach}, and stands at ${at} itself` : undefined;
}
