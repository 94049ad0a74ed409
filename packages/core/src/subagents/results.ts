import type { FailureCode } from "../schema/failure.ts";
import type { Json, JsonObject } from "../schema/json.ts";
import type { Usage } from "../schema/usage.ts";
import type { SpawnTool } from "./spawn-tools.ts";

/** What became of one job (S5). */
export type Entry = Succeeded | Failed;

export interface Succeeded {
  readonly index: number;
  readonly status: "success";
  readonly output: string;
  /** The output as JSON, where the job had an `output_schema`. */
  readonly structured?: Json;
  readonly usage: Usage;
}

export interface Failed {
  readonly index: number;
  readonly status: "error";
  /** `cancelled`, `tool_timed_out`, `output_invalid`, or what else the child failed of. */
  readonly error: { readonly code: FailureCode; readonly message: string };
  readonly usage: Usage;
}

/** Seven of these stay below what a result may be at all. */
const MAX_ENTRY_CHARS = 500_000;
/** One character may take six when written as JSON. */
const MAX_TEXT_CHARS = 80_000;
const MAX_MESSAGE_CHARS = 4000;

/** The result of a spawn call, as the calling model reads it: the one entry, or all of them in the order of the jobs. */
export function aggregate(tool: SpawnTool, entries: readonly Entry[]): JsonObject {
  const written = entries.toSorted((a, b) => a.index - b.index).map(writtenEntry);
  const [only] = written;
  return tool === "spawn_self" && only !== undefined ? only : { results: written };
}

function writtenEntry(entry: Entry): JsonObject {
  const { index, status, usage } = entry;
  if (entry.status === "error") {
    const { code, message } = entry.error;
    return { index, status, error: { code, message: cut(message, MAX_MESSAGE_CHARS) }, usage };
  }
  const { output, structured } = entry;
  const whole = { index, status, output, ...(structured === undefined ? {} : { structured }), usage };
  if (JSON.stringify(whole).length <= MAX_ENTRY_CHARS) return whole;
  // The text of a structured result is the same JSON, so that is what goes first.
  return { index, status, output: cut(output, MAX_TEXT_CHARS), usage };
}

function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const half = /[\ud800-\udbff]$/.test(text.slice(0, limit)) ? 1 : 0;
  return `${text.slice(0, limit - half)}… (cut: ${limit - half} of ${text.length} characters)`;
}
