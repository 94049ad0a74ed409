import type {
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from "@ai-sdk/provider";
import { costOf, type ModelFacts } from "../../context/model-table.ts";
import type { JsonObject } from "../../schema/json.ts";
import type { AssistantPart } from "../../schema/message.ts";
import type { Usage } from "../../schema/usage.ts";
import { TransformChain, type TransformerFactory } from "../../stream/transform.ts";
import { asJson, MalformedPart } from "./malformed-part.ts";

/** What is put together from a stream is shown as it comes. `offset` counts characters of this kind before it. */
export interface Deltas {
  text(text: string, offset: number): void;
  reasoning(text: string, offset: number): void;
  toolInput(slot: ToolSlot, text: string, offset: number): void;
}

/** For what is put together and shown to nobody, or only when it is whole. */
export const SILENT: Deltas = { text: () => {}, reasoning: () => {}, toolInput: () => {} };

/** A tool call while it arrives. It counts only once the provider has said that it is complete. */
export interface ToolSlot {
  readonly index: number;
  readonly providerId: string;
  tool: string;
  /** The complete text of the arguments; undefined until then. */
  input: string | undefined;
  streamed: number;
  provider: SharedV4ProviderMetadata | undefined;
}

export interface TextBlock {
  readonly type: "text" | "reasoning";
  /** Its place among the blocks. */
  readonly at: number;
  /** As it is shown, stored and returned: after the transformers. */
  text: string;
  provider: SharedV4ProviderMetadata | undefined;
}

/** Text or reasoning as the model wrote it, on its way through the transformers. */
interface Channel {
  readonly chain: TransformChain;
  original: string;
}

type Block = TextBlock | { type: "file"; part: AssistantPart } | { type: "call"; slot: ToolSlot };

/**
 * Puts a model's stream together. Blocks keep the order in which they began. Provider ids of blocks and calls may repeat
 * or be missing (T7): a delta belongs to the latest open block with its id, a call to the earliest incomplete slot.
 */
export class Assembly {
  blocks: Block[] = [];
  slots: ToolSlot[] = [];
  readonly annotations: JsonObject[] = [];
  usage: LanguageModelV4Usage | undefined;
  finish: LanguageModelV4FinishReason | undefined;
  error: unknown;
  failed = false;
  textLength = 0;
  reasoningLength = 0;
  readonly #deltas: Deltas;
  readonly #channels: Readonly<Record<"text" | "reasoning", Channel>> | undefined;
  #open: Map<string, TextBlock> | undefined;
  #textAt = 0;
  #lastId: string | undefined;
  #last: TextBlock | undefined;

  constructor(deltas: Deltas, transformers: readonly TransformerFactory[] = []) {
    this.#deltas = deltas;
    if (transformers.length === 0) return;
    const annotate = (annotations: readonly JsonObject[]) => void this.annotations.push(...annotations);
    this.#channels = {
      text: { chain: new TransformChain(transformers, "text", annotate), original: "" },
      reasoning: { chain: new TransformChain(transformers, "reasoning", annotate), original: "" },
    };
  }

  /** All its text, as it is shown. */
  get text(): string {
    return this.#all("text");
  }

  /** Whether the model wrote any text, be it still held back. */
  get wrote(): boolean {
    return this.textLength > 0 || (this.#channels?.text.original ?? "") !== "";
  }

  /** Whether anything of it has been shown. */
  get emitted(): boolean {
    return this.textLength > 0 || this.reasoningLength > 0 || this.slots.some((slot) => slot.streamed > 0);
  }

  accept(part: LanguageModelV4StreamPart): void {
    switch (part?.type) {
      case "text-delta":
        this.#textDelta(part);
        return;
      case "reasoning-delta":
        this.#reasoningDelta(part);
        return;
      case "text-start":
      case "reasoning-start":
        this.#begin(part.type === "text-start" ? "text" : "reasoning", part.id, part.providerMetadata);
        return;
      case "text-end":
      case "reasoning-end":
        this.#end(part.type === "text-end" ? "text" : "reasoning", part.id, part.providerMetadata);
        return;
      case "tool-input-start":
        if (!part.providerExecuted) this.#openSlot(part.id, part.toolName);
        return;
      case "tool-input-delta":
        this.#toolDelta(part.id, part.delta);
        return;
      case "tool-call":
        if (!part.providerExecuted) this.#completeSlot(part);
        return;
      case "file":
        this.#file(part);
        return;
      case "source":
        this.annotations.push(asJson(part.type, part) as JsonObject); // came out of JSON.parse and is an object
        return;
      case "finish":
        if (typeof part.finishReason?.unified !== "string")
          throw new MalformedPart(part.type, "without a finish reason");
        this.usage = part.usage;
        this.finish = part.finishReason;
        return;
      case "error":
        this.failed = true;
        this.error ??= part.error;
        return;
      default:
        return; // warnings, metadata, pings, what only a provider's own tools produce, and what is no part at all
    }
  }

  #textDelta(part: { id: string; delta: string; providerMetadata?: SharedV4ProviderMetadata }): void {
    if (part.delta === "") return;
    if (typeof part.delta !== "string") throw new MalformedPart("text-delta", "without text");
    let block = this.#block("text", part.id);
    // Kept in the order in which it is shown, also where a provider goes back to an earlier block.
    if (block.at < this.#textAt) block = this.#begin("text", part.id, undefined);
    this.#textAt = block.at;
    this.#add(block, this.#transformed("text", part.delta));
  }

  #reasoningDelta(part: { id: string; delta: string; providerMetadata?: SharedV4ProviderMetadata }): void {
    const block = this.#block("reasoning", part.id);
    block.provider = merged(block.provider, part.providerMetadata);
    if (part.delta === "") return;
    if (typeof part.delta !== "string") throw new MalformedPart("reasoning-delta", "without text");
    this.#add(block, this.#transformed("reasoning", part.delta));
  }

  #block(type: "text" | "reasoning", id: string): TextBlock {
    if (this.#lastId === id && this.#last?.type === type) return this.#last;
    return this.#open?.get(`${type}:${id}`) ?? this.#begin(type, id, undefined);
  }

  #begin(type: "text" | "reasoning", id: string, provider: SharedV4ProviderMetadata | undefined): TextBlock {
    const block: TextBlock = {
      type,
      at: this.blocks.length,
      text: "",
      provider: merged(undefined, provider),
    };
    this.#addBlock(block);
    this.#open ??= new Map();
    this.#open.set(`${type}:${id}`, block);
    this.#lastId = id;
    this.#last = block;
    return block;
  }

  /** Most messages have one: a list that grows takes room for 16 more. */
  #addBlock(block: Block): void {
    if (this.blocks.length === 0) this.blocks = [block];
    else this.blocks.push(block);
  }

  #end(type: "text" | "reasoning", id: string, provider: SharedV4ProviderMetadata | undefined): void {
    const block = this.#block(type, id);
    block.provider = merged(block.provider, provider);
    this.#open?.delete(`${type}:${id}`);
    this.#lastId = undefined;
    this.#last = undefined;
  }

  #transformed(type: "text" | "reasoning", delta: string): string {
    const channel = this.#channels?.[type];
    if (channel === undefined) return delta;
    channel.original += delta;
    return channel.chain.push(delta);
  }

  #add(block: TextBlock, text: string): void {
    if (text === "") return;
    block.text += text;
    if (block.type === "text") {
      this.textLength += text.length;
      this.#deltas.text(text, this.textLength - text.length);
    } else {
      this.reasoningLength += text.length;
      this.#deltas.reasoning(text, this.reasoningLength - text.length);
    }
  }

  /** The stream is at its end: what transformers still hold comes out, in the last block of its kind. */
  close(): void {
    for (const type of ["reasoning", "text"] as const) {
      const channel = this.#channels?.[type];
      const rest = channel === undefined || channel.original === "" ? "" : channel.chain.flush();
      if (rest !== "") this.#add(this.#lastOf(type) ?? this.#begin(type, "", undefined), rest);
    }
  }

  /** Whether transformers changed what the model wrote. */
  changed(type: "text" | "reasoning"): boolean {
    const original = this.#channels?.[type].original;
    return original !== undefined && original !== this.#all(type);
  }

  /** Whether reasoning the provider signed was changed on the way. */
  get droppedReasoning(): boolean {
    return (
      this.changed("reasoning") &&
      this.blocks.some((block) => block.type === "reasoning" && block.provider !== undefined)
    );
  }

  #lastOf(type: "text" | "reasoning"): TextBlock | undefined {
    const found = this.blocks.findLast((block) => block.type === type);
    return found?.type === "text" || found?.type === "reasoning" ? found : undefined;
  }

  #all(type: "text" | "reasoning"): string {
    return this.blocks.map((block) => (block.type === type && "text" in block ? block.text : "")).join("");
  }

  #openSlot(providerId: string | undefined, tool: string): ToolSlot {
    const slot: ToolSlot = {
      index: this.slots.length,
      providerId: providerId ?? "",
      tool,
      input: undefined,
      streamed: 0,
      provider: undefined,
    };
    if (this.slots.length === 0) this.slots = [slot];
    else this.slots.push(slot);
    this.#addBlock({ type: "call", slot });
    return slot;
  }

  #toolDelta(providerId: string, delta: string): void {
    const slot = this.slots.findLast((known) => known.providerId === providerId && known.input === undefined);
    if (slot === undefined || delta === "") return;
    if (typeof delta !== "string") throw new MalformedPart("tool-input-delta", "without text");
    const offset = slot.streamed;
    slot.streamed += delta.length;
    this.#deltas.toolInput(slot, delta, offset);
  }

  #completeSlot(part: {
    toolCallId: string;
    toolName: string;
    input: string;
    providerMetadata?: SharedV4ProviderMetadata;
  }): void {
    if (typeof part.toolName !== "string" || typeof part.input !== "string")
      throw new MalformedPart("tool-call", "without the name of a tool and the text of its arguments");
    const slot = this.#waiting(part) ?? this.#openSlot(part.toolCallId, part.toolName);
    slot.tool = part.toolName;
    slot.input = part.input;
    slot.provider = merged(undefined, part.providerMetadata);
  }

  /** The slot a complete call belongs to: with its id, best with its name too. */
  #waiting(part: { toolCallId: string; toolName: string }): ToolSlot | undefined {
    if (this.slots.length === 0) return undefined;
    const waiting = this.slots.filter(
      (known) => known.providerId === (part.toolCallId ?? "") && known.input === undefined,
    );
    return waiting.find((known) => known.tool === part.toolName) ?? waiting[0];
  }

  #file(part: Extract<LanguageModelV4StreamPart, { type: "file" }>): void {
    const source =
      part.data.type === "url"
        ? { kind: "url" as const, url: String(part.data.url) }
        : { kind: "base64" as const, data: base64(part.data.data) };
    this.#addBlock({ type: "file", part: { type: "file", media_type: part.mediaType, source } });
  }
}

function base64(data: Uint8Array | string): string {
  return typeof data === "string" ? data : Buffer.from(data).toString("base64");
}

function merged(
  a: SharedV4ProviderMetadata | undefined,
  b: SharedV4ProviderMetadata | undefined,
): SharedV4ProviderMetadata | undefined {
  if (!b) return a;
  const out = { ...a };
  for (const [name, value] of Object.entries(asJson("metadata", b))) out[name] = { ...out[name], ...value };
  return out;
}

/** What a provider reports, as far as it is a number. */
export function usageOf(reported: LanguageModelV4Usage | undefined, facts: ModelFacts | undefined): Usage {
  const { inputTokens, outputTokens } = reported ?? {};
  const usage: Usage = {
    input_tokens: tokens(inputTokens?.total),
    cached_input_tokens: tokens(inputTokens?.cacheRead),
    cache_write_tokens: tokens(inputTokens?.cacheWrite),
    output_tokens: tokens(outputTokens?.total),
    reasoning_tokens: tokens(outputTokens?.reasoning),
    model_calls: 1,
    cost: null,
  };
  if (facts !== undefined) usage.cost = costOf(usage, facts);
  return usage;
}

function tokens(count: number | undefined): number {
  return typeof count === "number" && count > 0 && Number.isFinite(count) ? count : 0;
}
