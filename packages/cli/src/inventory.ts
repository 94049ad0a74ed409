import type { Tool } from "trackside";

/** What a module exports, in words. */
export function inventory(exports: Record<string, unknown>): string {
  const found = Object.entries(exports).map(([key, value]) => `\`${key}\` (${kindOf(value)})`);
  return found.length === 0 ? "nor anything else" : `only ${found.join(", ")}`;
}

export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (value instanceof Promise) return "a promise; await it first";
  if (isTool(value)) return "a tool";
  if (typeof value !== "object") return `a ${typeof value}`;
  const made = value.constructor?.name;
  return made && made !== "Object" ? `an instance of ${made}` : "an object";
}

/** Asked of the object, not of its class: the user's copy of the library need not be ours. */
export function isTool(value: unknown): value is Tool {
  return (
    typeof value === "object" &&
    value !== null &&
    "name" in value &&
    "input" in value &&
    "run" in value &&
    typeof value.run === "function"
  );
}
