import type { Approval, DurableEvent, DurableEventOf, LiveEvent, Usage } from "trackside";
import { type Beat, Beats, isMain } from "../shared/beats.ts";
import { closing } from "../shared/connection.ts";
import { approvalLink } from "../shared/decide.ts";
import { UsageMeter } from "../shared/usage.ts";
import type { Moment } from "../shared/watch.ts";

/** One chunk of the AI SDK's UI message stream: what `uiMessageChunkSchema` of `ai` takes. */
export type Chunk = { readonly type: string } & Readonly<Record<string, unknown>>;

export interface ChunksInit {
  readonly runId: string;
  readonly conversationId: string;
  readonly agent: string;
  readonly clientTools: ReadonlySet<string>;
  readonly publicUrl?: string | undefined;
}

/** What a message's metadata holds. `cursor` comes back with the message and says what the client has seen. */
export interface MessageMetadata {
  readonly runId: string;
  readonly conversationId: string;
  readonly agent: string;
  readonly cursor?: string;
  readonly status?: "waiting" | "parked" | "completed" | "error" | "cancelled";
  readonly stopReason?: string;
  readonly reason?: string;
  readonly usage?: Readonly<Record<string, number | null>>;
  readonly approvals?: readonly string[];
}

/**
 * A run as one UI message. Its id is the run's, so that a client which sends the message back says which run it means.
 * Tools that run here are dynamic parts, since a client has no types for them; tools the client runs are its own.
 */
export class UiChunks {
  readonly #init: ChunksInit;
  readonly #beats: Beats;
  readonly #usage = new UsageMeter();
  /** Calls that the message has a part for. */
  readonly #calls = new Set<string>();
  readonly #denied = new Set<string>();
  readonly #nested = new Map<string, DurableEventOf<"tool_call">>();
  #cursor: string | undefined;
  #isOver = false;

  constructor(init: ChunksInit) {
    this.#init = init;
    this.#beats = new Beats(init.runId);
  }

  start(): Chunk {
    return { type: "start", messageId: this.#init.runId, messageMetadata: this.#metadata() };
  }

  *read(moment: Moment): Generator<Chunk> {
    this.#cursor = moment.cursor;
    if (moment.kind === "paused") {
      yield* this.#paused(moment.waiting);
      return;
    }
    const { event } = moment;
    this.#usage.read(event, this.#init.runId);
    for (const beat of this.#beats.read(event)) yield* this.#beat(beat);
  }

  /** What is left to say when the run's events ended without a last word: the server is closing. */
  *end(): Generator<Chunk> {
    if (this.#isOver) return;
    yield* this.#close();
    yield { type: "error", errorText: closing().message };
  }

  *#beat(beat: Beat): Generator<Chunk> {
    switch (beat.type) {
      case "text_start":
      case "text_end":
      case "reasoning_start":
      case "reasoning_end":
        yield { type: beat.type.replace("_", "-"), id: beat.id };
        break;
      case "text":
      case "reasoning":
        yield { type: `${beat.type}-delta`, id: beat.id, delta: beat.delta };
        break;
      case "call_start":
        this.#calls.add(beat.callId);
        yield { type: "tool-input-start", toolCallId: beat.callId, ...this.#tool(beat.tool) };
        break;
      case "call_delta":
        yield { type: "tool-input-delta", toolCallId: beat.callId, inputTextDelta: beat.delta };
        break;
      case "call":
        yield this.#call(beat.event);
        break;
      case "retracted":
        if (beat.wasShown) yield { type: "reset-step" };
        break;
      case "event":
        yield* this.#event(beat.event);
        break;
    }
  }

  #tool(toolName: string) {
    return { toolName, dynamic: !this.#init.clientTools.has(toolName) };
  }

  #call({ call_id: toolCallId, tool, arguments: input }: DurableEventOf<"tool_call">): Chunk {
    this.#calls.add(toolCallId);
    const about = { toolCallId, ...this.#tool(tool) };
    return input === null
      ? { type: "tool-input-error", ...about, input: {}, errorText: "The arguments did not parse." }
      : { type: "tool-input-available", ...about, input };
  }

  *#event(event: DurableEvent | LiveEvent): Generator<Chunk> {
    const isOurs = isMain(event, this.#init.runId);
    switch (event.type) {
      case "step":
        if (isOurs) yield { type: event.state === "started" ? "start-step" : "finish-step" };
        break;
      case "tool_call":
        this.#nested.set(event.call_id, event); // of a planner or sub-agent: shown if somebody has to decide on it
        break;
      case "approval":
        yield* this.#approval(event);
        break;
      case "tool_result":
        yield* this.#result(event);
        break;
      case "mcp_progress": {
        const { progress, total, message, server } = event;
        yield data("progress", event.call_id, { callId: event.call_id, server, progress, total, message });
        break;
      }
      case "plan":
        yield data("plan", "plan", {
          steps: event.plan?.steps ?? [],
          failure: event.failure?.message ?? null,
        });
        break;
      case "subagent": {
        const { child_run_id: runId, call_id: callId, index, state, status = null } = event;
        yield data("subagent", runId, { runId, callId, index, state, status });
        break;
      }
      case "artifact": {
        const { artifact_id: id, call_id: callId, media_type: mediaType, bytes } = event;
        yield data("artifact", id, { id, callId, mediaType, bytes });
        break;
      }
      case "context": {
        const { action, tokens_before, tokens_after, detail } = event;
        const about = { action, tokensBefore: tokens_before, tokensAfter: tokens_after, detail };
        yield data("context", `${event.run_id}.${event.seq}`, about);
        break;
      }
      case "handoff":
        yield data("handoff", `${event.seq}`, { from: event.from, to: event.to, reason: event.reason });
        break;
      case "message_injected":
        if (isOurs && event.source === "user" && event.parts) yield steering(event.message_id, event.parts);
        break;
      case "status":
        if (isOurs) yield* this.#status(event);
        break;
      default:
        break;
    }
  }

  *#approval(event: DurableEventOf<"approval">): Generator<Chunk> {
    const { approval_id: id, call_id, kind, state, reasons } = event;
    const isOpen = state === "pending";
    if (call_id !== null && !this.#calls.has(call_id)) {
      const call = this.#nested.get(call_id);
      if (call !== undefined) yield this.#call(call);
    }
    const callId = call_id !== null && this.#calls.has(call_id) ? call_id : null;
    if (kind === "tool_call" && callId !== null) {
      if (isOpen)
        yield {
          type: "tool-approval-request",
          approvalId: id,
          toolCallId: callId,
          ...(reasons.length > 0 ? { reason: reasons.join("; ") } : {}),
        };
      else {
        if (state !== "approved") this.#denied.add(callId);
        const reason = state === "timed_out" ? "nobody decided in time" : undefined;
        yield {
          type: "tool-approval-response",
          approvalId: id,
          approved: state === "approved",
          ...(reason === undefined ? {} : { reason }),
        };
      }
    }
    yield data("approval", id, {
      id,
      kind,
      state,
      callId: call_id,
      tool: event.tool,
      reasons,
      deadline: event.deadline,
      decidedBy: event.decided_by ?? null,
      url: approvalLink(this.#init.publicUrl, id),
    });
  }

  *#result(event: DurableEventOf<"tool_result">): Generator<Chunk> {
    const { call_id: toolCallId, output, metadata } = event;
    if (!this.#calls.has(toolCallId)) return;
    if (this.#denied.has(toolCallId) && metadata.status !== "success") {
      yield { type: "tool-output-denied", toolCallId };
      return;
    }
    const toolMetadata = {
      status: metadata.status,
      executionTimeMs: metadata.execution_time_ms,
      approvalStatus: metadata.approval_status,
      artifactId: metadata.offloaded_artifact_id,
    };
    yield output.type === "error"
      ? { type: "tool-output-error", toolCallId, errorText: output.failure.message, toolMetadata }
      : { type: "tool-output-available", toolCallId, output: output.value, toolMetadata };
  }

  *#paused(waiting: readonly Approval[]): Generator<Chunk> {
    yield { type: "finish-step" };
    const approvals = waiting.map(({ id }) => id);
    yield* this.#finish("tool-calls", { status: "waiting", approvals });
  }

  *#status(event: DurableEventOf<"status">): Generator<Chunk> {
    const { status, stop_reason: stopReason, reason } = event;
    if (status === "completed") {
      const finish = FINISH[stopReason ?? "answered"] ?? "other";
      yield* this.#finish(finish, {
        status,
        ...(stopReason === undefined ? {} : { stopReason }),
        ...(reason === undefined ? {} : { reason }),
      });
    } else if (status === "cancelled") {
      yield* this.#close();
      yield { type: "message-metadata", messageMetadata: this.#metadata({ status }) };
      yield { type: "abort", ...(reason === undefined ? {} : { reason }) };
    } else if (status === "error" || status === "parked") {
      yield* this.#close();
      yield { type: "message-metadata", messageMetadata: this.#metadata({ status }) };
      yield { type: "error", errorText: event.failure?.message ?? reason ?? `The run is ${status}.` };
    }
  }

  *#finish(finishReason: string, more: Partial<MessageMetadata>): Generator<Chunk> {
    yield* this.#close();
    yield { type: "finish", finishReason, messageMetadata: this.#metadata(more) };
  }

  *#close(): Generator<Chunk> {
    this.#isOver = true;
    for (const beat of this.#beats.end()) yield* this.#beat(beat);
  }

  #metadata(more: Partial<MessageMetadata> = {}): MessageMetadata {
    const { runId, conversationId, agent } = this.#init;
    const used = this.#usage.total;
    return {
      runId,
      conversationId,
      agent,
      ...(this.#cursor === undefined ? {} : { cursor: this.#cursor }),
      ...(used === undefined ? {} : { usage: usageOf(used) }),
      ...more,
    };
  }
}

const FINISH: Readonly<Record<string, string>> = {
  answered: "stop",
  max_steps: "length",
  budget: "length",
  halted: "other",
  skipped: "other",
};

/** By its id it is one part, however often it changes. */
function data(name: string, id: string, value: Readonly<Record<string, unknown>>): Chunk {
  return { type: `data-${name}`, id, data: value };
}

function steering(id: string, parts: NonNullable<DurableEventOf<"message_injected">["parts"]>): Chunk {
  const shown = parts.map((part) =>
    part.type === "text"
      ? { type: "text", text: part.text }
      : {
          type: "file",
          mediaType: part.media_type,
          url: part.source.kind === "url" ? part.source.url : "about:blank",
        },
  );
  return { type: "steering-message", id, parts: shown };
}

function usageOf(usage: Usage): Record<string, number | null> {
  return {
    inputTokens: usage.input_tokens,
    cachedInputTokens: usage.cached_input_tokens,
    outputTokens: usage.output_tokens,
    reasoningTokens: usage.reasoning_tokens,
    totalTokens: usage.input_tokens + usage.output_tokens,
    modelCalls: usage.model_calls,
    cost: usage.cost,
  };
}
