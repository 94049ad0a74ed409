import * as z from "zod";
import { failure } from "./failure.ts";
import { json, jsonObject } from "./json.ts";
import { toolResultMetadata } from "./tool.ts";

/** `provider` on any part is what the provider wants back verbatim with it; it is never shown. */
const provider = () => ({ provider: jsonObject.optional() });

export const textPart = z.lazy(() => z.object({ type: z.literal("text"), text: z.string(), ...provider() }));

/** A file by value (base64), by address, or by reference to the artifact store. */
export const filePart = z.lazy(() =>
  z.object({
    type: z.literal("file"),
    media_type: z.string(),
    filename: z.string().optional(),
    source: z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("base64"), data: z.string() }),
      z.object({ kind: z.literal("url"), url: z.string() }),
      z.object({ kind: z.literal("artifact"), artifact_id: z.string() }),
    ]),
  }),
);

export const reasoningPart = z.lazy(() =>
  z.object({
    type: z.literal("reasoning"),
    text: z.string(),
    /** A transformer changed it: it no longer fits its signature and is not sent back (H8). */
    changed: z.literal(true).optional(),
    ...provider(),
  }),
);

export const toolCallPart = z.lazy(() =>
  z.object({
    type: z.literal("tool_call"),
    call_id: z.string(),
    wire_id: z.string(),
    tool: z.string(),
    /** What the model wrote, parsed; null when it did not parse, and then `raw` holds the text. */
    arguments: jsonObject.nullable(),
    /** What it wrote for injected arguments (T3): kept for the record and the provider, never given to the tool. */
    injected: z.record(z.string(), json).optional(),
    raw: z.string().optional(),
    problem: z.string().optional(),
    ...provider(),
  }),
);

/** What the model reads as the outcome of a call. */
export const toolOutput = z.lazy(() =>
  z.discriminatedUnion("type", [
    z.object({ type: z.literal("text"), value: z.string() }),
    z.object({ type: z.literal("json"), value: json }),
    z.object({ type: z.literal("error"), failure }),
  ]),
);

export const userPart = z.lazy(() => z.discriminatedUnion("type", [textPart, filePart]));
export const assistantPart = z.lazy(() =>
  z.discriminatedUnion("type", [textPart, reasoningPart, filePart, toolCallPart]),
);

/** Marks durable parts a hook added to the log, with the hook's name (H4). */
const origin = () => ({ by_hook: z.string().optional() });

/** What is left of transient parts and drafts when their run has ended: no content (H4). */
const forgotten = () => ({
  forgotten: z.object({ digest: z.string(), tokens: z.number().int() }).optional(),
});

/** Tools whose results a message passes on, however they came into it: whoever trusts it trusts them. Never sent. */
const sources = () => ({ sources: z.array(z.string()).readonly().optional() });

export const userMessage = z.lazy(() =>
  z.object({
    id: z.string(),
    role: z.literal("user"),
    parts: z.array(userPart).readonly(),
    ...sources(),
    ...origin(),
    ...forgotten(),
  }),
);

export const assistantMessage = z.lazy(() =>
  z.object({
    id: z.string(),
    role: z.literal("assistant"),
    parts: z.array(assistantPart).readonly(),
    /** Cut off by a cancel or a failure after it had been shown (X5). */
    partial: z.literal(true).optional(),
    /** Budget advisory stamped for the model, never shown (B2). */
    advisory: z.string().optional(),
    annotations: z.array(jsonObject).readonly().optional(),
    ...origin(),
    ...forgotten(),
  }),
);

export const toolMessage = z.lazy(() =>
  z.object({
    id: z.string(),
    role: z.literal("tool"),
    call_id: z.string(),
    wire_id: z.string(),
    tool: z.string(),
    output: toolOutput,
    metadata: toolResultMetadata,
    /** What the model is told beside the output: that other arguments ran than it wrote (R4, L3). */
    told: z.string().optional(),
    advisory: z.string().optional(),
    ...sources(),
  }),
);

/** One entry of a conversation's log. */
export const message = z.lazy(() =>
  z.discriminatedUnion("role", [userMessage, assistantMessage, toolMessage]),
);

export type TextPart = z.infer<typeof textPart>;
export type FilePart = z.infer<typeof filePart>;
export type ReasoningPart = z.infer<typeof reasoningPart>;
export type ToolCallPart = z.infer<typeof toolCallPart>;
export type ToolOutput = z.infer<typeof toolOutput>;
export type UserPart = z.infer<typeof userPart>;
export type AssistantPart = z.infer<typeof assistantPart>;
export type UserMessage = z.infer<typeof userMessage>;
export type AssistantMessage = z.infer<typeof assistantMessage>;
export type ToolMessage = z.infer<typeof toolMessage>;
export type Message = z.infer<typeof message>;

/** Whether a part can be sent: a file by value, by an address that parses, or, where there may be one, an artifact. */
export function isSendable(part: UserPart, artifacts = false): boolean {
  if (part.type === "text" || part.source.kind === "base64") return true;
  if (part.source.kind === "artifact") return artifacts;
  return part.source.kind === "url" && URL.canParse(part.source.url);
}
