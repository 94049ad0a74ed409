import type { LanguageModelV4FunctionTool } from "@ai-sdk/provider";
import { estimating, type Sizer, sizeFixedPart } from "../../context/estimate.ts";
import { familyOf } from "../../context/model-family.ts";
import type { Rendered } from "../../context/render.ts";

/** Bytes for one token of a file, and the tokens of one that only an address is known of. */
const FILE_BYTES = 4;
const FILE_ELSEWHERE = 2_500;

const sizers = new Map<string, Sizer>();

/** Counts for one model, by estimate: what a report needs is the same in every process, tokenizer or not. */
export function sizerOf(model: string): Sizer {
  let sizer = sizers.get(model);
  if (sizer === undefined) {
    sizer = estimating(familyOf(model));
    sizers.set(model, sizer);
  }
  return sizer;
}

/** What comes before the first message: tools, then the system prompt. */
export function sizeBefore(
  tools: readonly LanguageModelV4FunctionTool[],
  system: string | undefined,
  sizer: Sizer,
): number {
  if (tools.length === 0 && system === undefined) return 0;
  const sized = tools.map(({ name, description = "", inputSchema }) => ({ name, description, inputSchema }));
  return sizeFixedPart({ system: system ?? "", tools: sized }, sizer);
}

const sums = new WeakMap<readonly Rendered[], { readonly sizer: Sizer; readonly upTo: number[] }>();

/** The tokens of the first `length` messages of a list. It may grow: what was counted is not counted again (B6). */
export function sizeOfFirst(messages: readonly Rendered[], length: number, sizer: Sizer): number {
  let known = sums.get(messages);
  if (known?.sizer !== sizer) {
    known = { sizer, upTo: [0] };
    sums.set(messages, known);
  }
  const { upTo } = known;
  for (let i = upTo.length - 1; i < length; i++) {
    const message = messages[i];
    upTo.push((upTo[i] ?? 0) + (message === undefined ? 0 : sizeOf(message, sizer)));
  }
  return upTo[length] ?? 0;
}

/** One message as it is sent. */
export function sizeOf(message: Rendered, { family, text }: Sizer): number {
  if (message.role === "system") return Math.ceil(family.system + text(message.content));
  let tokens = message.role === "user" ? family.user : message.role === "assistant" ? family.assistant : 0;
  for (const part of message.content) {
    switch (part.type) {
      case "text":
      case "reasoning":
        tokens += text(part.text);
        break;
      case "tool-call":
        tokens += family.call + text(part.toolName) + text(JSON.stringify(part.input));
        break;
      case "tool-result":
        tokens += family.result;
        tokens += text(part.output.type === "json" ? JSON.stringify(part.output.value) : part.output.value);
        break;
      case "file":
        tokens += fileSize(part, family.image);
    }
  }
  return Math.ceil(tokens);
}

type File = Extract<Extract<Rendered, { role: "user" }>["content"][number], { type: "file" }>;

function fileSize({ mediaType, data }: File, image: number): number {
  if (mediaType.startsWith("image/")) return image;
  return data.type === "url" ? FILE_ELSEWHERE : (data.data.length * 0.75) / FILE_BYTES;
}
