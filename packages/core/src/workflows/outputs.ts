import type { Json } from "../schema/json.ts";
import type { AssistantMessage, Message } from "../schema/message.ts";

/** What a node came to, as it is recorded: the result of its call, or JSON as text. Undefined where there is none. */
export function outputIn(message: Message | undefined): Json | undefined {
  if (message?.role === "tool") return message.output.type === "error" ? undefined : message.output.value;
  if (message?.role !== "assistant") return undefined;
  const [part] = message.parts;
  if (part?.type !== "text") return undefined;
  const { value } = JSON.parse(part.text) as { value: Json }; // as `outputMessage` wrote it
  return value;
}

/** The message that holds a node's output. */
export function outputMessage(id: string, value: Json): AssistantMessage {
  return { id, role: "assistant", parts: [{ type: "text", text: JSON.stringify({ value }) }] };
}
