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

/** Where untrusted data came from: how often, and the last few as a human has to know them to decide. */
export interface Sources {
  readonly count: number;
  readonly last: readonly string[];
}

export function sourcesOf(messages: readonly Message[], untrusted: Untrusted, shown: number): Sources {
  const found = messages.filter((message) => isFrom(message, untrusted));
  const last = found.slice(-shown).map((message) => nameOf(message, messages));
  return { count: found.length, last };
}

function isFrom(message: Message, untrusted: Untrusted): boolean {
  if (message.role === "tool") return untrusted.tool(message.tool) && spoke(message);
  return message.role === "user" && message.by_hook !== undefined && untrusted.hook(message.by_hook);
}

function nameOf(message: Message, messages: readonly Message[]): string {
  if (message.role !== "tool") return `the hook ${message.by_hook}`;
  for (const asked of messages) {
    if (asked.role !== "assistant") continue;
    for (const part of asked.parts)
      if (part.type === "tool_call" && part.call_id === message.call_id)
        return `${message.tool}${shownArguments(part.arguments)}`;
  }
  return message.tool;
}

/** A result counts whatever rails made of it, and so does an error: both carry what the tool was told from outside. */
function spoke({ output }: ToolMessage): boolean {
  return output.type !== "error" || !NEVER_RAN.includes(output.failure.code);
}

const LONGEST = 160;

function shownArguments(args: Json): string {
  if (args === null || Object.keys(args).length === 0) return "";
  const text = JSON.stringify(args);
  return ` ${text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text}`;
}
