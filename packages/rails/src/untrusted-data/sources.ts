import type { FailureCode, Json, Message, ToolMessage } from "trackside";

/** Which messages bring data from outside. */
export interface Untrusted {
  tool(name: string): boolean;
  hook(name: string): boolean;
}

/** These failures are ours: the tool said nothing. */
const NEVER_RAN: readonly FailureCode[] = [
  "approval_timed_out",
  "cancelled",
  "rejected",
  "tool_arguments_invalid",
  "tool_unknown",
];

/** Where untrusted data came from, in order: what a human has to know to decide. */
export function sourcesOf(messages: readonly Message[], untrusted: Untrusted): readonly string[] {
  const asked = new Map<string, Json>();
  const sources: string[] = [];
  for (const message of messages) {
    if (message.role === "assistant") {
      for (const part of message.parts)
        if (part.type === "tool_call") asked.set(part.call_id, part.arguments);
    } else if (message.role === "tool") {
      if (untrusted.tool(message.tool) && spoke(message))
        sources.push(`${message.tool}${shown(asked.get(message.call_id))}`);
    } else if (message.by_hook !== undefined && untrusted.hook(message.by_hook)) {
      sources.push(`the hook ${message.by_hook}`);
    }
  }
  return sources;
}

/** A result counts whatever rails made of it, and so does an error: both carry what the tool was told from outside. */
function spoke({ output }: ToolMessage): boolean {
  return output.type !== "error" || !NEVER_RAN.includes(output.failure.code);
}

const LONGEST = 160;

function shown(args: Json | undefined): string {
  if (args === undefined || args === null || Object.keys(args).length === 0) return "";
  const text = JSON.stringify(args);
  return ` ${text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text}`;
}
