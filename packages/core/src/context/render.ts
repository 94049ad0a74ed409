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
// `local/` hands them to a provider, where the compiler checks that they fit.

type Options = { providerOptions?: Record<string, JsonObject> };
type Text = { type: "text"; text: string } & Options;
type File = { type: "file"; mediaType: string; filename?: string; data: FileData };
type FileData = { type: "data"; data: string } | { type: "url"; url: URL };
type Reasoning = { type: "reasoning"; text: string } & Options;
type ToolCall = { type: "tool-call"; toolCallId: string; toolName: string; input: unknown } & Options;
type Output =
  | { type: "text"; value: string }
  | { type: "json"; value: Value }
  | { type: "error-text"; value: string };
type ToolResult = { type: "tool-result"; toolCallId: string; toolName: string; output: Output };

/** JSON as the AI SDK types it: the same values, without `readonly`. */
type Value = null | string | number | boolean | Value[] | { [key: string]: Value };

/** One message of a request, as providers take it. */
export type Rendered =
  | { role: "system"; content: string }
  | { role: "user"; content: (Text | File)[] }
  | { role: "assistant"; content: (Text | File | Reasoning | ToolCall)[] }
  | { role: "tool"; content: ToolResult[] };

/**
 * Appends messages to a rendering. What is there is not touched again, so request N stays a prefix of request N+1 (H5) and
 * a step costs the same however long the history is.
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
    appendRendered(rendered, message, messages[i - 1]?.role);
  }
}

/** Appends one message. Results of one step share one: `before` is the role of the message before it. */
export function appendRendered(
  rendered: Rendered[],
  message: Message,
  before: Message["role"] | undefined,
): void {
  if (message.role !== "tool") {
    const one = renderMessage(message);
    if (one !== null) rendered.push(one);
    return;
  }
  const last = rendered[rendered.length - 1];
  if (last?.role === "tool" && before === "tool") last.content.push(renderResult(message));
  else rendered.push({ role: "tool", content: [renderResult(message)] });
}

/** One user or assistant message; null when it says nothing, since providers refuse empty ones. */
export function renderMessage(message: Exclude<Message, ToolMessage>): Rendered | null {
  if (message.role === "user") {
    return { role: "user", content: message.parts.map(renderUserPart) };
  }
  const sent = message.parts.every(isSent) ? message.parts : message.parts.filter(isSent);
  if (sent.every((part) => part.type === "reasoning")) return null;
  const content = sent.map(renderAssistantPart); // as long as it is; a list that grows keeps room for 16 more
  if (message.advisory !== undefined) addAdvisory(content, message.advisory);
  return { role: "assistant", content };
}

/** The last of its texts: before its calls, since results are wanted right behind those (B2). */
function addAdvisory(content: ReturnType<typeof renderAssistantPart>[], advisory: string): void {
  const call = content.findIndex((part) => part.type === "tool-call");
  const isAfterText = content.some((part) => part.type === "text");
  const text = isAfterText ? `\n\n${advisory}` : advisory; // some providers join texts
  content.splice(call < 0 ? content.length : call, 0, { type: "text", text });
}

/** Empty text is refused by providers; reasoning that was changed no longer fits its signature. */
function isSent(part: AssistantPart): boolean {
  if (part.type === "text") return part.text !== "";
  return part.type !== "reasoning" || part.changed !== true;
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
  const written = part.arguments ?? { malformed_arguments: part.raw ?? "" };
  const input = part.injected === undefined ? written : { ...written, ...part.injected };
  const call: ToolCall = { type: "tool-call", toolCallId: part.wire_id, toolName: part.tool, input };
  return part.provider === undefined ? call : { ...call, ...options(part.provider) };
}

/** The scheme of addresses that stand for artifacts. */
export const ARTIFACT = "artifact:";

function renderFile(part: FilePart): File {
  const { source } = part;
  // An artifact is loaded when the request is sent: until then an address stands for it.
  const data: FileData =
    source.kind === "base64"
      ? { type: "data", data: source.data }
      : { type: "url", url: new URL(source.kind === "url" ? source.url : ARTIFACT + source.artifact_id) };
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
    output: renderOutput(message),
  };
}

function renderOutput({ output, told, advisory }: ToolMessage): Output {
  if (told !== undefined || advisory !== undefined) {
    const added = [told === undefined ? undefined : `[${told}]`, advisory];
    const texts = [outputText(output), ...added].filter((text) => text !== undefined);
    return { type: output.type === "error" ? "error-text" : "text", value: texts.join("\n\n") };
  }
  if (output.type === "error") return { type: "error-text", value: output.failure.message };
  if (output.type === "text") return { type: "text", value: output.value };
  return { type: "json", value: output.value as Value }; // never written to; the log's own type is read-only
}

/** The outcome of a call as text. */
export function outputText(output: ToolMessage["output"]): string {
  if (output.type === "error") return output.failure.message;
  return output.type === "text" ? output.value : JSON.stringify(output.value);
}

function options(provider: JsonObject | undefined): Options {
  // Written by the provider itself, one object for each provider name.
  return provider === undefined ? {} : { providerOptions: provider as Record<string, JsonObject> };
}
