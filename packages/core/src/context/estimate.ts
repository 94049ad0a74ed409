import type { Message, UserPart } from "../schema/message.ts";
import { outputText } from "./render.ts";

/** What a message costs beside its content. */
const PER_MESSAGE = 4;
/** A file is counted by its size, an image by what providers charge for a middling one. */
const PER_IMAGE = 1_100;
const BYTES_PER_TOKEN = 4;

/**
 * Roughly how many tokens a text is: a calibrated heuristic that needs no tokenizer. Words of Latin letters come to one
 * token for about four characters, digits to one for three, other scripts and signs to about one each.
 */
export function estimateText(text: string): number {
  let latin = 0;
  let digits = 0;
  let wide = 0;
  let signs = 0;
  let spaces = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if ((code >= 97 && code <= 122) || (code >= 65 && code <= 90)) latin += 1;
    else if (code === 32) spaces += 1;
    else if (code >= 48 && code <= 57) digits += 1;
    else if (code > 0x2e7f) wide += 1;
    else if (code > 127) latin += 1.6;
    else signs += 1;
  }
  // A space joins the word after it; runs of them are cheap.
  return Math.ceil(latin / 4.3 + digits / 2.7 + wide * 1.05 + signs * 0.62 + spaces * 0.12);
}

export function estimateParts(parts: readonly UserPart[]): number {
  let tokens = PER_MESSAGE;
  for (const part of parts) tokens += part.type === "text" ? estimateText(part.text) : estimateFile(part);
  return tokens;
}

function estimateFile(part: Extract<UserPart, { type: "file" }>): number {
  if (part.media_type.startsWith("image/")) return PER_IMAGE;
  return part.source.kind === "base64"
    ? Math.ceil((part.source.data.length * 0.75) / BYTES_PER_TOKEN)
    : PER_IMAGE;
}

export function estimateMessage(message: Message): number {
  if (message.role === "user") return estimateParts(message.parts);
  if (message.role === "tool") {
    return PER_MESSAGE + estimateText(outputText(message.output)) + estimateText(message.told ?? "");
  }
  let tokens = PER_MESSAGE;
  for (const part of message.parts) {
    if (part.type === "text" || part.type === "reasoning") tokens += estimateText(part.text);
    else if (part.type === "file") tokens += PER_IMAGE;
    else tokens += PER_MESSAGE + estimateText(part.tool) + estimateText(JSON.stringify(part.arguments) ?? "");
  }
  return tokens;
}
