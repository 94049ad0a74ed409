import type { Json } from "../schema/json.ts";

/** SHA-256 in hex. Loading `node:crypto` takes longer than anything else at import, and many programs never need it. */
export function sha256(content: string | Uint8Array): string {
  crypto ??= process.getBuiltinModule("node:crypto");
  return crypto.createHash("sha256").update(content).digest("hex");
}

let crypto: typeof import("node:crypto") | undefined;

/** The digest of a JSON value, the same however its keys are ordered (L1). */
export function digestOf(value: Json): string {
  return sha256(canonical(value));
}

function canonical(value: Json): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(",")}}`;
}
