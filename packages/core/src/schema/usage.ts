import * as z from "zod";

const count = z.lazy(() => z.number().int().min(0));

/** Tokens and money of one model call, or of everything below a run. `cost` is null while any part of it is unpriced. */
export const usage = z.lazy(() =>
  z.object({
    input_tokens: count,
    cached_input_tokens: count,
    cache_write_tokens: count,
    output_tokens: count,
    reasoning_tokens: count,
    model_calls: count,
    cost: z.number().nullable(),
  }),
);
export type Usage = z.infer<typeof usage>;
