import type { FilePart, Message, ToolCallPart, UserPart } from "../schema/message.ts";
import { familyOf, type ModelFamily } from "./model-family.ts";
import { outputText } from "./render.ts";
import { sizeText } from "./text-size.ts";
import { declareTools, type SizedTool } from "./tool-declarations.ts";

/** What counts the texts of a request, and how the rest is counted. */
export interface Sizer {
  readonly family: ModelFamily;
  /** The tokens of a text; need not be whole. */
  readonly text: (text: string) => number;
}

/** What is the same in every request of a run. */
export interface FixedPart {
  readonly system: string;
  readonly tools: readonly SizedTool[];
}

/** Bytes for one token, by what a file is; a page of a PDF is counted as text and as a picture. */
const BYTES_PER_TOKEN: readonly (readonly [prefix: string, bytes: number])[] = [
  ["text/", 4],
  ["application/pdf", 20],
  ["audio/", 400],
  ["video/", 1_000],
];
const BYTES_PER_TOKEN_OTHERWISE = 4;
/** A file that only an address is known of: some pages of text. */
const FILE_ELSEWHERE = 2_500;

/** Counts by the calibrated estimate, with a family's factors. */
export function estimating(family: ModelFamily): Sizer {
  return {
    family,
    text: (text) => {
      const { plain, wide } = sizeText(text);
      return plain * family.plain + wide * family.wide;
    },
  };
}

const ANY_MODEL = estimating(familyOf(""));

/** Roughly how many tokens a text is for a model nothing is known of. Fast, and needs no tokenizer. */
export function estimateText(text: string): number {
  return Math.ceil(ANY_MODEL.text(text));
}

export function estimateParts(parts: readonly UserPart[]): number {
  return sizeParts(parts, ANY_MODEL);
}

export function estimateMessage(message: Message): number {
  return sizeMessage(message, ANY_MODEL);
}

/** The parts of a user message, and what a message costs beside them. */
export function sizeParts(parts: readonly UserPart[], sizer: Sizer): number {
  let tokens = sizer.family.user;
  for (const part of parts)
    tokens += part.type === "text" ? sizer.text(part.text) : fileSize(part, sizer.family);
  return Math.ceil(tokens);
}

/** A message of the log as it is sent. */
export function sizeMessage(message: Message, sizer: Sizer): number {
  if (message.role === "user") return sizeParts(message.parts, sizer);
  const { family } = sizer;
  let tokens = message.advisory === undefined ? 0 : sizer.text(message.advisory);
  if (message.role === "tool") {
    tokens += family.result + sizer.text(outputText(message.output));
    return Math.ceil(message.told === undefined ? tokens : tokens + sizer.text(message.told));
  }
  tokens += family.assistant;
  let calls = 0;
  for (const part of message.parts) {
    if (part.type === "text") tokens += sizer.text(part.text);
    else if (part.type === "reasoning") tokens += part.changed === true ? 0 : sizer.text(part.text);
    else if (part.type === "file") tokens += fileSize(part, family);
    else {
      tokens += callSize(part, sizer);
      calls += 1;
    }
  }
  return Math.ceil(calls > 1 ? tokens + calls * family.besideOthers : tokens);
}

/** What a request has before its first message: the system prompt and the tools. */
export function sizeFixedPart({ system, tools }: FixedPart, { family, text }: Sizer): number {
  let tokens = family.request;
  if (system !== "") tokens += family.system + text(system);
  if (tools.length > 0) {
    const { written, once, each, factor } = family.tools;
    const definitions = written === "declarations" ? text(declareTools(tools)) : jsonSize(tools, text);
    tokens += once + each * tools.length + factor * definitions;
  }
  return Math.ceil(tokens);
}

function jsonSize(tools: readonly SizedTool[], text: Sizer["text"]): number {
  let tokens = 0;
  for (const { name, description, inputSchema: parameters } of tools) {
    tokens += text(JSON.stringify({ name, description: description ?? "", parameters }));
  }
  return tokens;
}

function callSize(part: ToolCallPart, { family, text }: Sizer): number {
  const { tool, arguments: args, injected, raw, provider } = part;
  let tokens = family.call + text(tool) + text(args === null ? (raw ?? "") : JSON.stringify(args));
  if (injected !== undefined) tokens += text(JSON.stringify(injected));
  if (family.signature > 0 && provider !== undefined)
    tokens += JSON.stringify(provider).length * family.signature;
  return tokens;
}

function fileSize({ media_type: type, source }: FilePart, family: ModelFamily): number {
  if (type.startsWith("image/")) return family.image;
  if (source.kind !== "base64") return FILE_ELSEWHERE;
  const bytes = BYTES_PER_TOKEN.find(([prefix]) => type.startsWith(prefix))?.[1] ?? BYTES_PER_TOKEN_OTHERWISE;
  return (source.data.length * 0.75) / bytes;
}
