import type { RunDetail } from "./types.ts";

/** Which rail comes first: what the definition sets for it, else what the registry knows. */
export function priorities(
  definition: RunDetail["definition"],
  known: readonly { readonly name: string; readonly priority: number | null }[],
): Map<string, number> {
  const found = new Map<string, number>();
  for (const { name, priority } of known) if (priority !== null) found.set(name, priority);
  const used: unknown = definition?.["rails"];
  for (const entry of Array.isArray(used) ? used : []) {
    if (typeof entry !== "object" || entry === null) continue;
    const { use, name, priority } = entry as Record<string, unknown>; // any JSON
    const called = typeof name === "string" ? name : use;
    if (typeof called === "string" && typeof priority === "number") found.set(called, priority);
  }
  return found;
}
