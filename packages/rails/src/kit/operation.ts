import { createHash } from "node:crypto";
import type { Json } from "trackside";

/**
 * What a dispatch is about, the same for every attempt and every point of it: one tool call, or one step's model call.
 * The key of a dispatch is `<run>/<operation>/<attempt>/<point>`; one of another form stands for itself, which counts
 * an attempt as an operation of its own and so never lets more pass than it should.
 */
export function operationOf({ idempotencyKey }: { readonly idempotencyKey: string }): string {
  return idempotencyKey.replace(/\/\d+\/[A-Z_]+$/, "");
}

/** The step a tool call belongs to: its id is `<run>.<path>.<step>.<index>`. */
export function stepOf(ctx: { readonly idempotencyKey: string }): string {
  return operationOf(ctx).replace(/\.\d+$/, "");
}

/** A short digest of a JSON value, the same however its keys are ordered. */
export function digest(value: Json): string {
  return createHash("sha256").update(canonical(value)).digest("hex").slice(0, 16);
}

function canonical(value: Json): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(",")}}`;
}

/** More than any counter reaches, and still JSON. */
export const NO_LIMIT = Number.MAX_SAFE_INTEGER;
