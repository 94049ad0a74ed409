import type {
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from "@ai-sdk/provider";
import type { JsonObject } from "../../schema/json.ts";
import type { AssistantPart } from "../../schema/message.ts";
import type { Usage } from "../../schema/usage.ts";
import { TransformChain, type TransformerFactory } from "../../stream/transform.ts";

/** What is put together from a stream is shown as it comes. `offset` counts characters of this kind before it. */
export interface Deltas {
  text(text: string, offset: number): void;
  reasoning(text: string, offset: number): void;
  toolInput(slot: ToolSlot, text: string, offset: number): void;
}

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

export type TextBlock = {
  type: "text" | "reasoning";
  /** As it is shown, stored and returned: after the transformers. */
  text: string;
  /** As the model wrote it. */
  original: string;
  provider: SharedV4ProviderMetadata | undefined;
};
type Chains = Record<"text" | "reasoning", TransformChain>;
type Block = TextBlock | { type: "file"; part: AssistantPart } | { type: "call"; slot: ToolSlot };

/**
 * Puts a model's stream together. Blocks keep the order in which they began. Provider ids of blocks and calls may repeat
 * or be missing (T7): a delta belongs to the latest open block with its id, a call to the earliest incomplete slot.
 */
export class Assembly {
  readonly blocks: Block[] = [];
  readonly slots: ToolSlot[] = [];
  readonly annotations: JsonObject[] = [];
  usage: LanguageModelV4Usage | undefined;
  finish: LanguageModelV4FinishReason | undefined;
  error: unknown;
  failed = false;
  textLength = 0;
  reasoningLength = 0;
  readonly #deltas: Deltas;
  readonly #chains: Chains | undefined;
  readonly #open = new Map<string, TextBlock>();
  #lastId: string | undefined;
  #last: TextBlock | undefined;

  constructor(deltas: Deltas, transformers: readonly TransformerFactory[] = []) {
    this.#deltas = deltas;
    if (transformers.length === 0) return;
    const annotate = (annotations: readonly JsonObject[]) => void this.annotations.push(...annotations);
    this.#chains = {
      text: new TransformChain(transformers, "text", annotate),
      reasoning: new TransformChain(transformers, "reasoning", annotate),
    };
  }

  /** All its text, as it is shown. */
  get text(): string {
    return this.blocks.map((block) => (block.type === "text" ? block.text : "")).join("");
  }

  /** Whether anything of it has been shown. */
  get emitted(): boolean {
    return this.textLength > 0 || this.reasoningLength > 0 || this.slots.some((slot) => slot.streamed > 0);
  }

  accept(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
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
        this.annotations.push(JSON.parse(JSON.stringify(part)));
        return;
      case "finish":
        this.usage = part.usage;
        this.finish = part.finishReason;
        return;
      case "error":
        this.failed = true;
        this.error ??= part.error;
        return;
      default:
        return; // warnings, metadata, pings and what only a provider's own tools produce
    }
  }

  #textDelta(part: { id: string; delta: string; providerMetadata?: SharedV4ProviderMetadata }): void {
    if (part.delta === "") return;
    const block = this.#block("text", part.id);
    this.#add(block, part.delta, this.#chains === undefined ? part.delta : this.#chains.text.push(part.delta));
  }

  /** Adds to a block what came, and what is left of it after the transformers. */
  #add(block: TextBlock, original: string, text: string): void {
    block.original += original;
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

  #reasoningDelta(part: { id: string; delta: string; providerMetadata?: SharedV4ProviderMetadata }): void {
    const block = this.#block("reasoning", part.id);
    if (part.providerMetadata) block.provider = merged(block.provider, part.providerMetadata);
    if (part.delta === "") return;
    this.#add(block, part.delta, this.#chains === undefined ? part.delta : this.#chains.reasoning.push(part.delta));
  }

  #block(type: "text" | "reasoning", id: string): TextBlock {
    if (this.#lastId === id && this.#last?.type === type) return this.#last;
    return this.#open.get(`${type}:${id}`) ?? this.#begin(type, id, undefined);
  }

  #begin(type: "text" | "reasoning", id: string, provider: SharedV4ProviderMetadata | undefined): TextBlock {
    const block: TextBlock = { type, text: "", original: "", provider };
    this.blocks.push(block);
    this.#open.set(`${type}:${id}`, block);
    this.#lastId = id;
    this.#last = block;
    return block;
  }

  #end(type: "text" | "reasoning", id: string, provider: SharedV4ProviderMetadata | undefined): void {
    const block = this.#block(type, id);
    if (provider) block.provider = merged(block.provider, provider);
    if (this.#chains !== undefined) this.#add(block, "", this.#chains[type].flush());
    this.#open.delete(`${type}:${id}`);
    this.#lastId = undefined;
    this.#last = undefined;
  }

  /** The stream is at its end: blocks the provider did not close are closed. */
  close(): void {
    if (this.#chains === undefined) return;
    for (const block of this.#open.values()) this.#add(block, "", this.#chains[block.type].flush());
    this.#open.clear();
  }

  #openSlot(providerId: string, tool: string): ToolSlot {
    const slot: ToolSlot = {
      index: this.slots.length,
      providerId,
      tool,
      input: undefined,
      streamed: 0,
      provider: undefined,
    };
    this.slots.push(slot);
    this.blocks.push({ type: "call", slot });
    return slot;
  }

  #toolDelta(providerId: string, delta: string): void {
    const slot = this.slots.findLast((known) => known.providerId === providerId && known.input === undefined);
    if (slot === undefined || delta === "") return;
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
    const waiting = this.slots.find(
      (known) =>
        known.providerId === part.toolCallId && known.tool === part.toolName && known.input === undefined,
    );
    const slot = waiting ?? this.#openSlot(part.toolCallId, part.toolName);
    slot.input = part.input;
    slot.provider = part.providerMetadata;
  }

  #file(part: Extract<LanguageModelV4StreamPart, { type: "file" }>): void {
    const source =
      part.data.type === "url"
        ? { kind: "url" as const, url: String(part.data.url) }
        : { kind: "base64" as const, data: base64(part.data.data) };
    this.blocks.push({ type: "file", part: { type: "file", media_type: part.mediaType, source } });
  }
}

function base64(data: Uint8Array | string): string {
  return typeof data === "string" ? data : Buffer.from(data).toString("base64");
}

function merged(
  a: SharedV4ProviderMetadata | undefined,
  b: SharedV4ProviderMetadata,
): SharedV4ProviderMetadata {
  const out = { ...a };
  for (const [name, value] of Object.entries(b)) out[name] = { ...out[name], ...value };
  return out;
}

export function usageOf(reported: LanguageModelV4Usage | undefined): Usage {
  return {
    input_tokens: reported?.inputTokens.total ?? 0,
    cached_input_tokens: reported?.inputTokens.cacheRead ?? 0,
    cache_write_tokens: reported?.inputTokens.cacheWrite ?? 0,
    output_tokens: reported?.outputTokens.total ?? 0,
    reasoning_tokens: reported?.outputTokens.reasoning ?? 0,
    model_calls: 1,
    cost: null,
  };
}
