import type { FailureCode } from "./failure.ts";
import type { ToolMessage } from "./message.ts";
import type { LogEntry } from "./projection.ts";

/** These failures are ours: the tool said nothing. */
const NEVER_RAN: readonly FailureCode[] = [
  "approval_timed_out",
  "cancelled",
  "rejected",
  "tool_arguments_invalid",
  "tool_unknown",
];

/**
 * Whether a tool has a word in its result. It has whatever rails made of it, and in an error too: both carry what the tool
 * was told from outside.
 */
export function spoke({ output }: ToolMessage): boolean {
  return output.type !== "error" || !NEVER_RAN.includes(output.failure.code);
}

/** The tools whose results are in a stretch of a log, by name: their own, and what they passed on. */
export function sourcesIn(entries: Iterable<LogEntry>): readonly string[] {
  const found = new Set<string>();
  for (const entry of entries) {
    if (entry.role !== "tool" && entry.role !== "user") continue;
    for (const source of entry.sources ?? []) found.add(source);
    if (entry.role === "tool" && spoke(entry)) found.add(entry.tool);
  }
  return [...found].sort();
}
