import type {
  LanguageModelV3CallOptions,
  LanguageModelV3Content,
  LanguageModelV3File,
  LanguageModelV3FilePart,
  LanguageModelV3Message,
  LanguageModelV3StreamPart,
  LanguageModelV3ToolResultOutput,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4File,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolResultOutput,
  SharedV4Warning,
} from "@ai-sdk/provider";
import { UnsupportedFunctionalityError } from "@ai-sdk/provider";

type V3Part<Role extends string> = Extract<LanguageModelV3Message, { role: Role }>["content"][number];
type V4ToolContent = Extract<LanguageModelV4ToolResultOutput, { type: "content" }>["value"][number];
type V3ToolContent = Extract<LanguageModelV3ToolResultOutput, { type: "content" }>["value"][number];

export type Translated<Call> = { call: Call; warnings: SharedV4Warning[] };

export function v3Call(options: LanguageModelV4CallOptions): Translated<LanguageModelV3CallOptions> {
  const warnings: SharedV4Warning[] = [];
  const { prompt, reasoning, ...same } = options;
  if (reasoning !== undefined && reasoning !== "provider-default") warnings.push(leftOut("reasoning"));
  return { call: { ...same, prompt: prompt.map((message) => v3Message(message, warnings)) }, warnings };
}

function v3Message(message: LanguageModelV4Message, warnings: SharedV4Warning[]): LanguageModelV3Message {
  switch (message.role) {
    case "system":
      return message;
    case "user":
      return {
        ...message,
        content: message.content.map((part) => (part.type === "file" ? v3File(part) : part)),
      };
    case "assistant": {
      const content: V3Part<"assistant">[] = [];
      for (const part of message.content) {
        if (part.type === "file") content.push(v3File(part));
        else if (part.type === "tool-result") content.push({ ...part, output: v3Output(part.output) });
        else if (part.type === "custom" || part.type === "reasoning-file")
          warnings.push(leftOut(`${part.type} part`));
        else content.push(part);
      }
      return { ...message, content };
    }
    case "tool":
      return {
        ...message,
        content: message.content.map((part) =>
          part.type === "tool-result" ? { ...part, output: v3Output(part.output) } : part,
        ),
      };
  }
}

export function v3File(part: LanguageModelV4FilePart): LanguageModelV3FilePart {
  const mediaType = fullMediaType(part.mediaType);
  switch (part.data.type) {
    case "data":
      return { ...part, mediaType, data: part.data.data };
    case "url":
      return { ...part, mediaType, data: part.data.url };
    case "text":
      return { ...part, mediaType, data: new TextEncoder().encode(part.data.text) };
    case "reference":
      throw unsupportedReference();
  }
}

function v3Output(output: LanguageModelV4ToolResultOutput): LanguageModelV3ToolResultOutput {
  return output.type === "content" ? { ...output, value: output.value.map(v3ToolContent) } : output;
}

function v3ToolContent(part: V4ToolContent): V3ToolContent {
  if (part.type !== "file") return part;
  const options = part.providerOptions ? { providerOptions: part.providerOptions } : {};
  const mediaType = fullMediaType(part.mediaType);
  const image = mediaType.startsWith("image/");
  switch (part.data.type) {
    case "url":
      return { type: image ? "image-url" : "file-url", url: part.data.url.href, ...options };
    case "reference":
      return { type: image ? "image-file-id" : "file-id", fileId: part.data.reference, ...options };
    default: {
      const data = base64(
        part.data.type === "text" ? new TextEncoder().encode(part.data.text) : part.data.data,
      );
      if (image) return { type: "image-data", data, mediaType, ...options };
      const filename = part.filename === undefined ? {} : { filename: part.filename };
      return { type: "file-data", data, mediaType, ...filename, ...options };
    }
  }
}

/** Everything but a generated file reads the same in both specifications. */
export function v3Part(part: LanguageModelV3StreamPart): LanguageModelV4StreamPart {
  return part.type === "file" ? generatedFile(part) : part;
}

export function v3Content(part: LanguageModelV3Content): LanguageModelV4Content {
  return part.type === "file" ? generatedFile(part) : part;
}

function generatedFile(part: LanguageModelV3File): LanguageModelV4File {
  return { ...part, data: { type: "data", data: part.data } };
}

/** Before specification 4 a media type always had two segments, with `*` for an unknown subtype. */
export function fullMediaType(mediaType: string): string {
  return mediaType.includes("/") ? mediaType : `${mediaType}/*`;
}

export function base64(data: Uint8Array | string): string {
  return typeof data === "string"
    ? data
    : Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64");
}

export function leftOut(feature: string): SharedV4Warning {
  return {
    type: "unsupported",
    feature,
    details: "left out: the model's specification is older and has no such thing",
  };
}

export function unsupportedReference(): UnsupportedFunctionalityError {
  return new UnsupportedFunctionalityError({
    functionality: "file reference",
    message: "This model's specification has no file references; send the file's data or its URL instead.",
  });
}
