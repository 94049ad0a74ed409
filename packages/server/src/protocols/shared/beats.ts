import type { DurableEvent, DurableEventOf, LiveEvent } from "trackside";

/**
 * What a run says, in the form that every protocol streams: parts that begin, grow and end. `event` is all the rest, and
 * everything of planners and sub-agents.
 */
export type Beat =
  | { readonly type: "text_start" | "text_end"; readonly id: string; readonly messageId: string }
  | { readonly type: "text"; readonly id: string; readonly messageId: string; readonly delta: string }
  | { readonly type: "reasoning_start" | "reasoning_end"; readonly id: string; readonly messageId: string }
  | { readonly type: "reasoning"; readonly id: string; readonly messageId: string; readonly delta: string }
  | {
      readonly type: "call_start";
      readonly callId: string;
      readonly tool: string;
      readonly messageId: string;
    }
  | { readonly type: "call_delta"; readonly callId: string; readonly delta: string }
  /** `delta` is what of the arguments was not streamed. */
  | { readonly type: "call"; readonly event: DurableEventOf<"tool_call">; readonly delta: string }
  /** What was shown of this step does not count. */
  | {
      readonly type: "retracted";
      readonly messageId: string;
      readonly reason: string;
      readonly wasShown: boolean;
    }
  | { readonly type: "event"; readonly event: DurableEvent | LiveEvent };

interface OpenPart {
  readonly id: string;
  text: string;
}

interface OpenMessage {
  readonly text: OpenPart[];
  readonly reasoning: OpenPart[];
  /** Arguments as they were streamed, by call. */
  readonly inputs: Map<string, string>;
}

/** Turns the events of a run into beats. Live text and the durable event that supersedes it become one part (E1). */
export class Beats {
  readonly #runId: string;
  readonly #open = new Map<string, OpenMessage>();
  #parts = 0;

  constructor(runId: string) {
    this.#runId = runId;
  }

  *read(event: DurableEvent | LiveEvent): Generator<Beat> {
    if (!isMain(event, this.#runId)) {
      yield { type: "event", event };
      return;
    }
    switch (event.type) {
      case "text_delta":
        yield* this.#close("reasoning", event.message_id);
        yield* this.#grow("text", event.message_id, event.text);
        return;
      case "reasoning_delta":
        yield* this.#grow("reasoning", event.message_id, event.text);
        return;
      case "text":
        yield* this.#settle("text", event.message_id, event.text);
        return;
      case "reasoning":
        yield* this.#settle("reasoning", event.message_id, event.text);
        return;
      case "tool_input_delta":
        yield* this.#input(event.message_id, event.call_id, event.tool, event.text);
        return;
      case "tool_call":
        yield* this.#call(event);
        return;
      case "message_retracted": {
        const wasShown = this.#open.delete(event.message_id);
        yield { type: "retracted", messageId: event.message_id, reason: event.reason, wasShown };
        return;
      }
      default:
        yield { type: "event", event };
    }
  }

  /** Ends what is still open: the stream is about to. */
  *end(): Generator<Beat> {
    for (const messageId of [...this.#open.keys()]) {
      yield* this.#close("reasoning", messageId);
      yield* this.#close("text", messageId);
    }
  }

  #of(messageId: string): OpenMessage {
    const known = this.#open.get(messageId) ?? { text: [], reasoning: [], inputs: new Map() };
    this.#open.set(messageId, known);
    return known;
  }

  *#grow(kind: "text" | "reasoning", messageId: string, delta: string): Generator<Beat> {
    if (delta === "") return;
    const parts = this.#of(messageId)[kind];
    let part = parts.at(-1);
    if (part === undefined || this.#closed.has(part)) {
      this.#parts += 1;
      part = { id: `${messageId}.${kind}${parts.length === 0 ? "" : this.#parts}`, text: "" };
      parts.push(part);
      yield { type: `${kind}_start`, id: part.id, messageId };
    }
    part.text += delta;
    yield { type: kind, id: part.id, messageId, delta };
  }

  /** The whole text is there: whatever was not streamed of it follows, and it ends. */
  *#settle(kind: "text" | "reasoning", messageId: string, whole: string): Generator<Beat> {
    const shown = this.#of(messageId)
      [kind].map(({ text }) => text)
      .join("");
    if (whole.startsWith(shown)) yield* this.#grow(kind, messageId, whole.slice(shown.length));
    yield* this.#close(kind, messageId);
  }

  readonly #closed = new WeakSet<OpenPart>();

  *#close(kind: "text" | "reasoning", messageId: string): Generator<Beat> {
    const part = this.#open.get(messageId)?.[kind].at(-1);
    if (part === undefined || this.#closed.has(part)) return;
    this.#closed.add(part);
    yield { type: `${kind}_end`, id: part.id, messageId };
  }

  *#input(messageId: string, callId: string, tool: string, delta: string): Generator<Beat> {
    yield* this.#close("reasoning", messageId);
    yield* this.#close("text", messageId);
    const { inputs } = this.#of(messageId);
    const before = inputs.get(callId);
    if (before === undefined) yield { type: "call_start", callId, tool, messageId };
    inputs.set(callId, (before ?? "") + delta);
    if (delta !== "") yield { type: "call_delta", callId, delta };
  }

  *#call(event: DurableEventOf<"tool_call">): Generator<Beat> {
    const { message_id: messageId, call_id: callId, tool } = event;
    yield* this.#close("reasoning", messageId);
    yield* this.#close("text", messageId);
    const shown = this.#open.get(messageId)?.inputs.get(callId);
    if (shown === undefined) yield { type: "call_start", callId, tool, messageId };
    // Streamed in part only where live events were lost; what is missing cannot be told from another spelling.
    const delta = shown === undefined ? JSON.stringify(event.arguments ?? {}) : "";
    yield { type: "call", event, delta };
  }
}

/** Of the run itself: not of its planner, nor of a sub-agent. */
export function isMain(event: DurableEvent | LiveEvent, runId: string): boolean {
  return event.run_id === runId && event.path.length === 0;
}
