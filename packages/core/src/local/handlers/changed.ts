import * as z from "zod";
import type { ModelResponse } from "../../hooks/context.ts";
import { deepFreeze } from "../../schema/json.ts";
import { type AssistantMessage, type AssistantPart, isSendable, message } from "../../schema/message.ts";
import { messageText } from "../../turn/expand.ts";

const messages = z.lazy(() => z.array(message).min(1));
const response = z.lazy(() =>
  z.object({
    text: z.string(),
    toolCalls: z.array(
      z.object({
        id: z.string(),
        toolName: z.string(),
        arguments: z.record(z.string(), z.unknown()).nullable(),
      }),
    ),
  }),
);

/** Says what is wrong with the messages a rail wants sent. */
export function changedMessages(_field: string, value: unknown): string | undefined {
  const found = messages.safeParse(value);
  if (!found.success) return `a list of messages is expected (${firstProblem(found.error)})`;
  const sendable = found.data.every(
    (one) => one.role !== "user" || one.parts.every((part) => isSendable(part, true)),
  );
  return sendable ? undefined : "a file without data or an address that parses is in it";
}

/** Says what is wrong with the response a rail wants to stand. */
export function changedResponse(_field: string, value: unknown, before: ModelResponse): string | undefined {
  const found = response.safeParse(value);
  if (!found.success) return `{ text, toolCalls } is expected (${firstProblem(found.error)})`;
  const stranger = found.data.toolCalls.find(
    (call) => !before.toolCalls.some((known) => known.id === call.id && known.toolName === call.toolName),
  );
  return (
    stranger &&
    `the model did not make the call ${stranger.id} of ${stranger.toolName}; calls may be left out or given other arguments`
  );
}

/** A message as rails see it. */
export function responseOf(said: AssistantMessage): ModelResponse {
  const toolCalls = said.parts.flatMap((part) =>
    part.type === "tool_call" ? [{ id: part.call_id, toolName: part.tool, arguments: part.arguments }] : [],
  );
  return deepFreeze({ text: messageText(said), toolCalls });
}

/** A message as rails left it. */
export function withResponse(said: AssistantMessage, left: ModelResponse): AssistantMessage {
  const rewritten = left.text !== messageText(said);
  const parts = said.parts.flatMap((part): AssistantPart[] => {
    if (part.type === "text") return rewritten ? [] : [part];
    if (part.type !== "tool_call") return [part];
    const call = left.toolCalls.find((one) => one.id === part.call_id);
    if (call === undefined) return [];
    return call.arguments === part.arguments || call.arguments === null
      ? [part]
      : [{ ...part, arguments: call.arguments }];
  });
  if (rewritten && left.text !== "") {
    const at = parts.findIndex((part) => part.type !== "reasoning");
    parts.splice(at < 0 ? parts.length : at, 0, { type: "text", text: left.text });
  }
  return { ...said, parts };
}

function firstProblem(error: z.ZodError): string {
  const [first] = error.issues;
  return first === undefined ? "" : `${first.path.map(String).join(".")}: ${first.message}`;
}
