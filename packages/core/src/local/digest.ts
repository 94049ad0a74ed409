import { createHash } from "node:crypto";
import type { Json } from "../schema/json.ts";

/** The digest of a JSON value, the same however its keys are ordered (L1). */
export function digestOf(value: Json): string {
  return createHash("sha256").update(canonical(value)).digest("hex");
}

function canonical(value: Json): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(",")}}`;
}
