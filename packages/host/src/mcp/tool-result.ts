import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import type { Json } from "trackside";
import { asJson, problemOfJson } from "./untrusted-json.ts";

const LIMITS = { depth: 100, nodes: 5_000_000, chars: 2 ** 28 };

/** What a tool of ours would have returned. Throws what the server reported as an error of the tool. */
export function readResult(result: CallToolResult): Json {
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

/** One part of an answer: text as it is, the rest as JSON. */
function readPart(part: ContentBlock): Json {
  switch (part.type) {
    case "text":
      return part.text;
    case "image":
    case "audio":
      return { type: part.type, media_type: part.mimeType, data: part.data };
    case "resource":
      return readContents(part.resource);
    case "resource_link":
      return link(part);
  }
}

type Contents = { uri: string; mimeType?: string | undefined } & ({ text: string } | { blob: string });

/** The contents of a resource. */
export function readContents(resource: Contents): Json {
  const media = resource.mimeType === undefined ? {} : { media_type: resource.mimeType };
  if ("text" in resource) return { type: "resource", uri: resource.uri, ...media, text: resource.text };
  return { type: "resource", uri: resource.uri, ...media, data: resource.blob };
}

function link({ uri, name, description, mimeType }: ContentBlock & { type: "resource_link" }): Json {
  return {
    type: "resource_link",
    uri,
    name,
    ...(description === undefined ? {} : { description }),
    ...(mimeType === undefined ? {} : { media_type: mimeType }),
  };
}
