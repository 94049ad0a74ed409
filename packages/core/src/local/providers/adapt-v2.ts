import type {
  LanguageModelV2CallOptions,
  LanguageModelV2CallWarning,
  LanguageModelV2Content,
  LanguageModelV2File,
  LanguageModelV2FinishReason,
  LanguageModelV2Message,
  LanguageModelV2StreamPart,
  LanguageModelV2ToolResultOutput,
  LanguageModelV2ToolResultPart,
  LanguageModelV2Usage,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4File,
  LanguageModelV4FinishReason,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolResult,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
  LanguageModelV4Usage,
  SharedV2ProviderOptions,
  SharedV4ProviderOptions,
  SharedV4Warning,
} from "@ai-sdk/provider";
import { base64, fullMediaType, leftOut, type Translated, unsupportedReference, v3File } from "./adapt-v3.ts";

type V2Part<Role extends string> = Extract<LanguageModelV2Message, { role: Role }>["content"][number];
type V2Tool = NonNullable<LanguageModelV2CallOptions["tools"]>[number];
type V4Tool = NonNullable<LanguageModelV4CallOptions["tools"]>[number];
type V2ToolContent = Extract<LanguageModelV2ToolResultOutput, { type: "content" }>["value"][number];
type V4ToolContent = Extract<LanguageModelV4ToolResultOutput, { type: "content" }>["value"][number];
type V2ToolResult = Extract<LanguageModelV2Content, { type: "tool-result" }>;

export function v2Call(options: LanguageModelV4CallOptions): Translated<LanguageModelV2CallOptions> {
  const warnings: SharedV4Warning[] = [];
  const { prompt, tools, reasoning, ...same } = options;
  if (reasoning !== undefined && reasoning !== "provider-default") warnings.push(leftOut("reasoning"));
  return {
    call: {
      ...v2Options(same),
      prompt: prompt.map((message) => v2Message(message, warnings)),
      ...(tools && { tools: tools.map(v2Tool) }),
    },
    warnings,
  };
}

function v2Tool(tool: V4Tool): V2Tool {
  if (tool.type === "provider") return { ...tool, type: "provider-defined" };
  const { strict: _strict, inputExamples: _examples, ...same } = tool;
  return v2Options(same);
}

function v2Message(message: LanguageModelV4Message, warnings: SharedV4Warning[]): LanguageModelV2Message {
  switch (message.role) {
    case "system":
      return v2Options(message);
    case "user":
      return {
        ...v2Options(message),
        content: message.content.map((part) => v2Options(part.type === "file" ? v3File(part) : part)),
      };
    case "assistant": {
      const content: V2Part<"assistant">[] = [];
      for (const part of message.content) {
        if (part.type === "file") content.push(v2Options(v3File(part)));
        else if (part.type === "tool-result") content.push(v2ToolResultPart(part, warnings));
        else if (part.type === "custom" || part.type === "reasoning-file")
          warnings.push(leftOut(`${part.type} part`));
        else content.push(v2Options(part));
      }
      return { ...v2Options(message), content };
    }
    case "tool": {
      const content: V2Part<"tool">[] = [];
      for (const part of message.content) {
        if (part.type === "tool-result") content.push(v2ToolResultPart(part, warnings));
        else warnings.push(leftOut(`${part.type} part`));
      }
      return { ...v2Options(message), content };
    }
  }
}

function v2ToolResultPart(
  part: LanguageModelV4ToolResultPart,
  warnings: SharedV4Warning[],
): LanguageModelV2ToolResultPart {
  return { ...v2Options(part), output: v2Output(part.output, warnings) };
}

function v2Output(
  output: LanguageModelV4ToolResultOutput,
  warnings: SharedV4Warning[],
): LanguageModelV2ToolResultOutput {
  switch (output.type) {
    case "text":
    case "error-text":
      return { type: output.type, value: output.value };
    case "json":
    case "error-json":
      return { type: output.type, value: output.value };
    case "execution-denied":
      return { type: "error-text", value: output.reason ?? "Tool execution denied." };
    case "content":
      return { type: "content", value: output.value.flatMap((part) => v2ToolContent(part, warnings)) };
  }
}

function v2ToolContent(part: V4ToolContent, warnings: SharedV4Warning[]): V2ToolContent[] {
  if (part.type === "text") return [{ type: "text", text: part.text }];
  if (part.type === "custom") {
    warnings.push(leftOut("custom tool content"));
    return [];
  }
  const mediaType = fullMediaType(part.mediaType);
  switch (part.data.type) {
    case "data":
      return [{ type: "media", data: base64(part.data.data), mediaType }];
    case "text":
      return [{ type: "text", text: part.data.text }];
    case "url":
      // Specification 2 has no files by URL in a tool result; the address is all that can be said of it.
      warnings.push(leftOut("file by URL in a tool result"));
      return [{ type: "text", text: part.data.url.href }];
    case "reference":
      throw unsupportedReference();
  }
}

export function v2Part(
  part: Exclude<LanguageModelV2StreamPart, { type: "stream-start" }>,
): LanguageModelV4StreamPart {
  switch (part.type) {
    case "finish":
      return { ...part, usage: v2Usage(part.usage), finishReason: v2FinishReason(part.finishReason) };
    case "file":
      return generatedFile(part);
    case "tool-result":
      return v2ToolResult(part);
    default:
      return part;
  }
}

export function v2Content(part: LanguageModelV2Content): LanguageModelV4Content {
  if (part.type === "file") return generatedFile(part);
  return part.type === "tool-result" ? v2ToolResult(part) : part;
}

function generatedFile(part: LanguageModelV2File): LanguageModelV4File {
  return { ...part, data: { type: "data", data: part.data } };
}

function v2ToolResult(part: V2ToolResult): LanguageModelV4ToolResult {
  const { providerExecuted: _implied, result, ...same } = part;
  // Documented as JSON-serializable, typed as unknown; absent is the one value specification 4 rules out.
  return { ...same, result: (result ?? "") as LanguageModelV4ToolResult["result"] };
}

export function v2FinishReason(reason: LanguageModelV2FinishReason): LanguageModelV4FinishReason {
  return { unified: reason === "unknown" ? "other" : reason, raw: undefined };
}

/** Whether cached tokens are part of the total differed by provider, so what is not cached stays unknown. */
export function v2Usage(usage: LanguageModelV2Usage): LanguageModelV4Usage {
  return {
    inputTokens: {
      total: usage.inputTokens,
      noCache: undefined,
      cacheRead: usage.cachedInputTokens,
      cacheWrite: undefined,
    },
    outputTokens: { total: usage.outputTokens, text: undefined, reasoning: usage.reasoningTokens },
  };
}

export function v2Warnings(warnings: LanguageModelV2CallWarning[]): SharedV4Warning[] {
  return warnings.map((warning) => {
    if (warning.type === "other") return warning;
    const feature =
      warning.type === "unsupported-tool" ? `tool ${warning.tool.name}` : String(warning.setting);
    return {
      type: "unsupported",
      feature,
      ...(warning.details !== undefined && { details: warning.details }),
    };
  });
}

type V2Options<T> = T extends unknown
  ? Omit<T, "providerOptions"> & { providerOptions?: SharedV2ProviderOptions }
  : never;

function v2Options<T extends { providerOptions?: SharedV4ProviderOptions }>(value: T): V2Options<T> {
  // Only the type differs: specification 4 lets an option be undefined, which means the same as leaving it out.
  return value as unknown as V2Options<T>;
}
