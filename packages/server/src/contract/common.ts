import * as z from "zod";

/** RFC 9457. `code` is stable, `detail` is for people and says what to do; `issues` has every problem of a body (A3). */
export const problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.number().int(),
  detail: z.string(),
  code: z.string(),
  instance: z.string().optional(),
  issues: z
    .array(z.object({ path: z.string(), given: z.string(), allowed: z.string(), message: z.string() }))
    .optional(),
  /** Beside a conflict: what is there now. */
  current: z.record(z.string(), z.unknown()).optional(),
  retry_after_seconds: z.number().optional(),
});
export type Problem = z.infer<typeof problem>;

export const id = z.string().min(1).max(200);
export const name = z.string().min(1).max(128);
/** Numbers of a query come as text. */
export const count = (most: number, otherwise: number) =>
  z.coerce.number().int().min(1).max(most).default(otherwise);
export const at = z.coerce.number().int().min(0);
export const flag = z.enum(["true", "false"]).transform((text) => text === "true");
/** One value, or several: `?status=running&status=waiting`. */
export const several = <T extends z.ZodType>(one: T) =>
  z.union([one, z.array(one)]).transform((given) => [given].flat() as z.output<T>[]);
export const anything = z.record(z.string(), z.unknown());

export const page = <T extends z.ZodType>(item: T) =>
  z.object({
    items: z.array(item),
    /** Give it back as `after` for the next page; null at the end. */
    next: z.string().nullable(),
  });
