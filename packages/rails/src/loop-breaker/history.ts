import type { Json, Message, ToolMessage } from "trackside";
import { digest } from "../kit/operation.ts";

/** A call that was made, as far as it matters for finding circles. */
export interface Made {
  readonly tool: string;
  /** The tool with its arguments. */
  readonly call: string;
  readonly result: string;
  /** It failed or brought nothing, so that other arguments are no excuse for the same again. */
  readonly barren: boolean;
}

/** A call, whatever the order of its arguments. */
export function callDigest(tool: string, args: Json): string {
  return digest([tool, args]);
}

const results = new WeakMap<ToolMessage, string>();
const calls = new WeakMap<object, string>();

/** The calls a run has made so far, in order, without those that `skippedBy` refused. */
export function callsOf(messages: readonly Message[], runId: string, skippedBy: string): readonly Made[] {
  const asked = new Map<string, string>();
  const made: Made[] = [];
  for (const message of messages) {
    if (message.role === "assistant") {
      for (const part of message.parts) {
        if (part.type !== "tool_call" || !part.call_id.startsWith(`${runId}.`)) continue;
        asked.set(
          part.call_id,
          remembered(calls, part, () => callDigest(part.tool, part.arguments ?? part.raw ?? null)),
        );
      }
    }
    const call = message.role === "tool" ? asked.get(message.call_id) : undefined;
    if (message.role !== "tool" || call === undefined || message.metadata.skipped_by === skippedBy) continue;
    const result = remembered(results, message, () => digest(shownBy(message)));
    made.push({ tool: message.tool, call, result, barren: isBarren(message) });
  }
  return made;
}

/** Messages are frozen, so what was worked out for one stays true. */
function remembered<K extends object>(known: WeakMap<K, string>, key: K, make: () => string): string {
  let value = known.get(key);
  if (value === undefined) {
    value = make();
    known.set(key, value);
  }
  return value;
}

function shownBy({ output }: ToolMessage): Json {
  return output.type === "error" ? [output.failure.code, output.failure.message] : output.value;
}

function isBarren({ output }: ToolMessage): boolean {
  if (output.type === "error") return true;
  const { value } = output;
  if (typeof value !== "object" || value === null) return value === null || value === "";
  return Object.keys(value).length === 0;
}
