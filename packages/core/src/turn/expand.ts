import { estimateParts } from "../context/estimate.ts";
import type { DurableEvent } from "../schema/durable-events.ts";
import type { AssistantMessage, Message, ToolMessage } from "../schema/message.ts";
import { outputIn } from "../workflows/outputs.ts";
import type { EventNote } from "./note.ts";

export type Stamp = Pick<DurableEvent, "run_id" | "turn_ref" | "seq" | "at" | "path">;

/** Turns a note into the event readers see: stamped, with the bodies of the messages it names. */
export function expand(
  note: EventNote,
  stamp: Stamp,
  find: (id: string) => Message | undefined,
): DurableEvent {
  switch (note.type) {
    case "text":
      return textOf(assistant(find(note.message_id), note.message_id), stamp);
    case "reasoning": {
      const { id, parts } = assistant(find(note.message_id), note.message_id);
      const text = parts.map((part) => (part.type === "reasoning" ? part.text : "")).join("");
      return { type: "reasoning", ...stamp, message_id: id, text };
    }
    case "tool_call": {
      const { id, parts } = assistant(find(note.message_id), note.message_id);
      for (const part of parts) {
        if (part.type !== "tool_call" || part.call_id !== note.call_id) continue;
        return {
          type: "tool_call",
          ...stamp,
          message_id: id,
          call_id: part.call_id,
          tool: part.tool,
          arguments: part.arguments,
          ...(part.injected === undefined ? {} : { injected_args: part.injected }),
        };
      }
      throw new Error(`message ${note.message_id} has no call ${note.call_id}`);
    }
    case "tool_result":
      return resultOf(find(note.message_id), note.message_id, stamp);
    case "node": {
      const { message_id, ...said } = note;
      if (message_id === undefined) return { ...said, ...stamp };
      const output = outputIn(find(message_id));
      return { ...said, ...stamp, ...(output === undefined ? {} : { output }) };
    }
    case "message_injected":
      return injected(note, find(note.message_id), stamp);
    default:
      return { ...note, ...stamp };
  }
}

/** The text of an assistant's message, all its text parts together. */
export function messageText(message: AssistantMessage): string {
  const { parts } = message;
  const first = parts[0];
  if (parts.length === 1 && first?.type === "text") return first.text;
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function textOf(message: AssistantMessage, stamp: Stamp): DurableEvent {
  return {
    type: "text",
    ...stamp,
    message_id: message.id,
    text: messageText(message),
    ...(message.partial ? { partial: message.partial } : {}),
    ...(message.annotations ? { annotations: message.annotations } : {}),
  };
}

function resultOf(message: Message | undefined, id: string, stamp: Stamp): DurableEvent {
  const { call_id, tool, output, metadata } = toolResult(message, id);
  return {
    type: "tool_result",
    ...stamp,
    call_id,
    tool,
    success: metadata.status === "success",
    error: output.type === "error" ? output.failure.message : null,
    duration_ms: metadata.execution_time_ms,
    output,
    metadata,
  };
}

function injected(
  { message_id, durable, audit, receipt }: Extract<EventNote, { type: "message_injected" }>,
  message: Message | undefined,
  stamp: Stamp,
): DurableEvent {
  if (message?.role !== "user") throw new Error(`message ${message_id} is not a user's message`);
  const { by_hook: source = "user", parts, forgotten } = message;
  const shown = durable || audit ? { parts } : {};
  return {
    type: "message_injected",
    ...stamp,
    message_id,
    source,
    durable,
    tokens: forgotten?.tokens ?? estimateParts(parts),
    ...shown,
    ...(receipt === undefined ? {} : { receipt }),
  };
}

function assistant(message: Message | undefined, id: string): AssistantMessage {
  if (message?.role !== "assistant") throw new Error(`message ${id} is not an assistant's message`);
  return message;
}

function toolResult(message: Message | undefined, id: string): ToolMessage {
  if (message?.role !== "tool") throw new Error(`message ${id} is not a tool result`);
  return message;
}
