import type { Json, Message, ToolMessage } from "trackside";
import { spoke } from "trackside/schema";

/** Which messages bring data from outside. */
export interface Untrusted {
  tool(name: string): boolean;
  /** Whether a result is, whoever else may have a word in it. */
  result(message: ToolMessage): boolean;
  hook(name: string): boolean;
}

/** Where untrusted data came from: how often, and the last few as a human has to know them to decide. */
export interface Sources {
  readonly count: number;
  readonly last: readonly string[];
}

export function sourcesOf(messages: readonly Message[], untrusted: Untrusted, shown: number): Sources {
  const found = messages.filter((message) => isFrom(message, untrusted));
  const last = found.slice(-shown).map((message) => nameOf(message, messages, untrusted));
  return { count: found.length, last };
}

function isFrom(message: Message, untrusted: Untrusted): boolean {
  if (message.role === "assistant") return false;
  if (message.sources?.some((tool) => untrusted.tool(tool))) return true;
  if (message.role === "tool") return untrusted.result(message) && spoke(message);
  return message.by_hook !== undefined && untrusted.hook(message.by_hook);
}

/** What only hands on what others said: an artifact is to be trusted as far as the tools it came from. */
export function isPassedOn({ tool, sources }: ToolMessage): boolean {
  return tool === "read_artifact" && sources !== undefined;
}

function nameOf(message: Message, messages: readonly Message[], untrusted: Untrusted): string {
  if (message.role === "assistant") return "the model"; // never: it is no source
  const others = message.sources?.filter((tool) => untrusted.tool(tool)) ?? [];
  const said = others.length === 0 ? "" : ` with what ${others.join(" and ")} said`;
  return `${message.role === "tool" ? callOf(message, messages) : `the hook ${message.by_hook}`}${said}`;
}

function callOf(message: ToolMessage, messages: readonly Message[]): string {
  for (const asked of messages) {
    if (asked.role !== "assistant") continue;
    for (const part of asked.parts)
      if (part.type === "tool_call" && part.call_id === message.call_id)
        return `${message.tool}${shownArguments(part.arguments)}`;
  }
  return message.tool;
}

const LONGEST = 160;

function shownArguments(args: Json): string {
  if (args === null || Object.keys(args).length === 0) return "";
  const text = JSON.stringify(args);
  return ` ${text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text}`;
}
