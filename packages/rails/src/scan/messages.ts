import type { AssistantMessage, Json, JsonObject, Message, ToolMessage, UserMessage } from "trackside";
import { rewriteJson, rewriteObject } from "./json.ts";
import type { Rewriting } from "./rewriter.ts";

/** Rewrites all that a model would read; the same list when there was nothing to rewrite. */
export async function rewriteMessages(
  messages: readonly Message[],
  rewriting: Rewriting,
): Promise<readonly Message[]> {
  let changed = false;
  const left: Message[] = [];
  for (const message of messages) {
    const rewritten =
      message.role === "tool" ? await ofTool(message, rewriting) : await ofPerson(message, rewriting);
    changed ||= rewritten !== message;
    left.push(rewritten);
  }
  return changed ? left : messages;
}

async function ofPerson<M extends UserMessage | AssistantMessage>(
  message: M,
  rewriting: Rewriting,
): Promise<M> {
  let changed = false;
  const parts: (UserMessage | AssistantMessage)["parts"][number][] = [];
  for (const part of message.parts) {
    const rewritten = await rewritePart(part, rewriting);
    changed ||= rewritten !== part;
    parts.push(rewritten);
  }
  return changed ? { ...message, parts } : message;
}

type Part = (UserMessage | AssistantMessage)["parts"][number];

async function rewritePart(part: Part, rewriting: Rewriting): Promise<Part> {
  if (part.type === "text") {
    const text = await rewriting.text(part.text);
    return text === part.text ? part : { ...part, text };
  }
  if (part.type === "tool_call" && part.arguments !== null) {
    const args: JsonObject = await rewriteObject(part.arguments, rewriting);
    return args === part.arguments ? part : { ...part, arguments: args };
  }
  return part;
}

async function ofTool(message: ToolMessage, rewriting: Rewriting): Promise<ToolMessage> {
  const { output } = message;
  if (output.type === "error") {
    const text = await rewriting.text(output.failure.message);
    if (text === output.failure.message) return message;
    return { ...message, output: { type: "error", failure: { ...output.failure, message: text } } };
  }
  const value: Json = await rewriteJson(output.value, rewriting);
  if (value === output.value) return message;
  return {
    ...message,
    output: typeof value === "string" ? { type: "text", value } : { type: "json", value },
  };
}
