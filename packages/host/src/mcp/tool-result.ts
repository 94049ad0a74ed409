import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import { type Json, type JsonObject, ToolFile } from "trackside";
import { asJson, problemOfJson } from "./untrusted-json.ts";

const LIMITS = { depth: 100, nodes: 5_000_000, chars: 2 ** 28 };

/** What tools return: text, JSON, a file, or a list of these. */
export type Part = Json | ToolFile;
export type Returned = Part | readonly Part[];

/** What a tool of ours would have returned. Throws what the server reported as an error of the tool. */
export function readResult(result: CallToolResult): Returned {
  const content = result.content ?? [];
  if (result.isError === true) throw new Error(textOf(content) || "the tool failed without saying why");
  const { structuredContent } = result;
  if (structuredContent !== undefined) {
    const problem = problemOfJson(structuredContent, LIMITS);
    if (problem !== null) throw new Error(`the server's answer ${problem}`);
    return asJson(structuredContent);
  }
  const parts = content.map(readPart);
  if (parts.every((part) => typeof part === "string")) return parts.join("\n");
  return parts.length === 1 && parts[0] !== undefined ? parts[0] : parts;
}

export function textOf(content: readonly ContentBlock[]): string {
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/** One part of an answer: text as it is, bytes as a file, the rest as JSON. */
function readPart(part: ContentBlock): Part {
  switch (part.type) {
    case "text":
      return part.text;
    case "image":
    case "audio":
      return file(part.data, part.mimeType);
    case "resource":
      return readContents(part.resource);
    case "resource_link":
      return link(part);
  }
}

type Contents = { uri: string; mimeType?: string | undefined } & ({ text: string } | { blob: string });

/** The contents of a resource. */
export function readContents(resource: Contents): Part {
  const { uri, mimeType } = resource;
  if ("blob" in resource) return file(resource.blob, mimeType, uri);
  return {
    type: "resource",
    uri,
    ...(mimeType === undefined ? {} : { media_type: mimeType }),
    text: resource.text,
  };
}

const MEDIA_TYPE = /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/;

function file(base64: string, mediaType: string | undefined, uri?: string): ToolFile {
  // Names are shown to people and may become names of files.
  const name = uri?.replace(/[?#].*$/, "").match(/[\w.-]{1,200}$/)?.[0];
  return new ToolFile({
    mediaType: mediaType !== undefined && MEDIA_TYPE.test(mediaType) ? mediaType : "application/octet-stream",
    data: Buffer.from(base64, "base64"),
    ...(name === undefined ? {} : { name }),
  });
}

function link({ uri, name, description, mimeType }: ContentBlock & { type: "resource_link" }): JsonObject {
  return {
    type: "resource_link",
    uri,
    name,
    ...(description === undefined ? {} : { description }),
    ...(mimeType === undefined ? {} : { media_type: mimeType }),
  };
}
