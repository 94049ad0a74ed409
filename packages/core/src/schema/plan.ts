import * as z from "zod";

/** What the runtime planner leaves for the executor (P2). Not the user-facing plans of W2. */
export const plan = z.object({
  steps: z.array(z.object({ title: z.string(), detail: z.string().optional() })).min(1),
});
export type Plan = z.infer<typeof plan>;
