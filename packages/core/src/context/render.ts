import type { JsonObject } from "../schema/json.ts";
import type {
  AssistantPart,
  FilePart,
  Message,
  ToolCallPart,
  ToolMessage,
  UserPart,
} from "../schema/message.ts";

// The shapes below are those of the AI SDK's prompt (LanguageModelV4Prompt), restated so that this room needs no import;
// the compiler checks in `local/` that they still fit.

type Options = { providerOptions?: Record<string, JsonObject> };
type Text = { type: "text"; text: string } & Options;
type File = { type: "file"; mediaType: string; filename?: string; data: FileData };
type FileData = { type: "data"; data: string } | { type: "address"; url: string };
type Reasoning = { type: "reasoning"; text: string } & Options;
type ToolCall = { type: "tool-call"; toolCallId: string; toolName: string; input: unknown } & Options;
type Output =
  | { type: "text"; value: string }
  | { type: "json"; value: unknown }
  | { type: "error-text"; value: string };
type ToolResult = { type: "tool-result"; toolCallId: string; toolName: string; output: Output };

/** One message of a request, as providers take it. */
export type Rendered =
  | { role: "system"; content: string }
  | { role: "user"; content: (Text | File)[] }
  | { role: "assistant"; content: (Text | File | Reasoning | ToolCall)[] }
  | { role: "tool"; content: ToolResult[] };

/**
 * Appends messages of the log to a rendering. What is there is not touched again, so request N stays a prefix of request
 * N+1 (H5) and a step costs the same however long the history is. Results of one step share one message.
 */
export function renderInto(
  rendered: Rendered[],
  messages: readonly Message[],
  from: number,
  to: number,
): void {
  for (let i = from; i < to; i++) {
    const message = messages[i];
    if (message === undefined) return;
    if (message.role === "tool") {
      const last = rendered[rendered.length - 1];
      if (last?.role === "tool" && messages[i - 1]?.role === "tool") last.content.push(renderResult(message));
      else rendered.push({ role: "tool", content: [renderResult(message)] });
    } else {
      const one = renderMessage(message);
      if (one !== null) rendered.push(one);
    }
  }
}

/** One user or assistant message; null when it says nothing, since providers refuse empty ones. */
export function renderMessage(message: Exclude<Message, ToolMessage>): Rendered | null {
  if (message.role === "user") {
    return { role: "user", content: message.parts.map(renderUserPart) };
  }
  const content = message.parts
    .filter((part) => part.type !== "text" || part.text !== "")
    .map(renderAssistantPart);
  return content.some((part) => part.type !== "reasoning") ? { role: "assistant", content } : null;
}

function renderUserPart(part: UserPart): Text | File {
  return part.type === "text" ? { type: "text", text: part.text } : renderFile(part);
}

function renderAssistantPart(part: AssistantPart): Text | File | Reasoning | ToolCall {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text, ...options(part.provider) };
    case "reasoning":
      return { type: "reasoning", text: part.text, ...options(part.provider) };
    case "file":
      return renderFile(part);
    case "tool_call":
      return renderCall(part);
  }
}

function renderCall(part: ToolCallPart): ToolCall {
  // Arguments that did not parse go back as an object all the same: providers refuse anything else.
  const input = part.arguments ?? { malformed_arguments: part.raw ?? "" };
  return {
    type: "tool-call",
    toolCallId: part.wire_id,
    toolName: part.tool,
    input,
    ...options(part.provider),
  };
}

function renderFile(part: FilePart): File {
  const { source } = part;
  const data: FileData =
    source.kind === "base64"
      ? { type: "data", data: source.data }
      : { type: "address", url: source.kind === "url" ? source.url : `artifact:${source.artifact_id}` };
  return {
    type: "file",
    mediaType: part.media_type,
    ...(part.filename === undefined ? {} : { filename: part.filename }),
    data,
  };
}

function renderResult(message: ToolMessage): ToolResult {
  return {
    type: "tool-result",
    toolCallId: message.wire_id,
    toolName: message.tool,
    output: renderOutput(message.output),
  };
}

function renderOutput(output: ToolMessage["output"]): Output {
  if (output.type === "error") return { type: "error-text", value: output.failure.message };
  return output.type === "text"
    ? { type: "text", value: output.value }
    : { type: "json", value: output.value };
}

function options(provider: JsonObject | undefined): Options {
  // Written by the provider itself, one object for each provider name.
  return provider === undefined ? {} : { providerOptions: provider as Record<string, JsonObject> };
}
