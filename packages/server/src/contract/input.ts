import type { Json } from "trackside/schema";
import * as z from "zod";

export const json: z.ZodType<Json> = z.json() as z.ZodType<Json>; // the same values, but theirs may be written to

const filePart = z.strictObject({
  type: z.literal("file"),
  media_type: z.string(),
  filename: z.string().optional(),
  source: z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("base64"), data: z.string() }),
    z.strictObject({ kind: z.literal("url"), url: z.string() }),
    z.strictObject({ kind: z.literal("artifact"), artifact_id: z.string() }),
  ]),
});

/** What a user says: a text, or parts. */
export const userInput = z.union([
  z.string().min(1),
  z
    .array(
      z.discriminatedUnion("type", [z.strictObject({ type: z.literal("text"), text: z.string() }), filePart]),
    )
    .min(1),
]);
