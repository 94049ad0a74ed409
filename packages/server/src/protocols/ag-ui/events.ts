import type { Approval, DurableEvent, DurableEventOf, LiveEvent } from "trackside";
import { type Beat, Beats, isMain } from "../shared/beats.ts";
import { closing } from "../shared/connection.ts";
import { approvalLink } from "../shared/decide.ts";
import { UsageMeter } from "../shared/usage.ts";
import type { Moment } from "../shared/watch.ts";
import { Transcript } from "./transcript.ts";

/** One event of AG-UI: what `EventSchemas` of `@ag-ui/core` takes. */
export type AgUiEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

export interface AgUiInit {
  /** As the client calls them. */
  readonly threadId: string;
  readonly clientRunId: string;
  readonly runId: string;
  readonly conversationId: string;
  readonly agent: string;
  readonly clientTools: ReadonlySet<string>;
  /** What the client has as its state and its messages. */
  readonly state: unknown;
  readonly messages: readonly object[];
  readonly publicUrl?: string | undefined;
}

/**
 * A run as AG-UI tells it. A run of ours that waits is a run of theirs that ends, with interrupts for people and pending
 * calls for the frontend; the next one goes on. Whatever was begun is ended before the run is: their client insists on it.
 */
export class AgUiEvents {
  readonly #init: AgUiInit;
  readonly #beats: Beats;
  readonly #usage = new UsageMeter();
  readonly #transcript: Transcript;
  readonly #steps = new Set<string>();
  readonly #subagents = new Set<string>();
  readonly #openText = new Set<string>();
  readonly #openCalls = new Set<string>();
  readonly #openReasoning = new Set<string>();
  /** Calls the client has heard of, now or before. */
  readonly #calls = new Set<string>();
  #isOver = false;

  constructor(init: AgUiInit) {
    this.#init = init;
    this.#beats = new Beats(init.runId);
    this.#transcript = new Transcript(init.messages);
  }

  start(): AgUiEvent {
    const { threadId, clientRunId, runId, conversationId, agent } = this.#init;
    const metadata = { trackside: { runId, conversationId, agent } };
    return { type: "RUN_STARTED", threadId, runId: clientRunId, metadata };
  }

  *read(moment: Moment): Generator<AgUiEvent> {
    if (moment.kind === "paused") {
      yield* this.#paused(moment.waiting);
      return;
    }
    const { event, isPast } = moment;
    this.#usage.read(event, this.#init.runId, isPast);
    if (isPast) {
      if (event.type === "tool_call" && isMain(event, this.#init.runId)) this.#calls.add(event.call_id);
      return;
    }
    for (const beat of this.#beats.read(event)) yield* this.#beat(beat);
  }

  *end(): Generator<AgUiEvent> {
    if (!this.#isOver) yield this.#error(closing().message, "closing");
  }

  *#beat(beat: Beat): Generator<AgUiEvent> {
    switch (beat.type) {
      case "text_start":
        this.#openText.add(beat.messageId);
        yield { type: "TEXT_MESSAGE_START", messageId: beat.messageId, role: "assistant" };
        break;
      case "text":
        this.#transcript.text(beat.messageId, beat.delta);
        yield { type: "TEXT_MESSAGE_CONTENT", messageId: beat.messageId, delta: beat.delta };
        break;
      case "text_end":
        if (this.#openText.delete(beat.messageId))
          yield { type: "TEXT_MESSAGE_END", messageId: beat.messageId };
        break;
      case "reasoning_start":
        this.#openReasoning.add(beat.id);
        yield { type: "REASONING_START", messageId: beat.id };
        yield { type: "REASONING_MESSAGE_START", messageId: beat.id, role: "reasoning" };
        break;
      case "reasoning":
        this.#transcript.reasoning(beat.id, beat.messageId, beat.delta);
        yield { type: "REASONING_MESSAGE_CONTENT", messageId: beat.id, delta: beat.delta };
        break;
      case "reasoning_end":
        yield* this.#endReasoning(beat.id);
        break;
      case "call_start": {
        const { callId: toolCallId, tool: toolCallName, messageId: parentMessageId } = beat;
        this.#calls.add(toolCallId);
        this.#openCalls.add(toolCallId);
        this.#transcript.call(parentMessageId, toolCallId, toolCallName);
        yield { type: "TOOL_CALL_START", toolCallId, toolCallName, parentMessageId };
        break;
      }
      case "call_delta":
        yield* this.#arguments(beat.callId, beat.delta);
        break;
      case "call":
        if (beat.delta !== "") yield* this.#arguments(beat.event.call_id, beat.delta);
        if (this.#openCalls.delete(beat.event.call_id))
          yield { type: "TOOL_CALL_END", toolCallId: beat.event.call_id };
        break;
      case "retracted":
        if (beat.wasShown) yield* this.#retracted(beat.messageId, beat.reason);
        break;
      case "event":
        yield* this.#event(beat.event);
        break;
    }
  }

  *#arguments(toolCallId: string, delta: string): Generator<AgUiEvent> {
    this.#transcript.arguments(toolCallId, delta);
    yield { type: "TOOL_CALL_ARGS", toolCallId, delta };
  }

  *#endReasoning(id: string): Generator<AgUiEvent> {
    if (!this.#openReasoning.delete(id)) return;
    yield { type: "REASONING_MESSAGE_END", messageId: id };
    yield { type: "REASONING_END", messageId: id };
  }

  /** What was shown does not count: the client gets its messages without it. */
  *#retracted(messageId: string, reason: string): Generator<AgUiEvent> {
    yield* this.#closeParts();
    this.#transcript.retract(messageId);
    yield { type: "MESSAGES_SNAPSHOT", messages: this.#transcript.messages };
    yield { type: "CUSTOM", name: "message_retracted", value: { messageId, reason } };
  }

  *#event(event: DurableEvent | LiveEvent): Generator<AgUiEvent> {
    const isOurs = isMain(event, this.#init.runId);
    switch (event.type) {
      case "step":
        if (isOurs) yield* this.#step(`step ${event.step}`, event.state);
        break;
      case "tool_result":
        yield* this.#result(event);
        break;
      case "plan":
        yield { type: "STATE_SNAPSHOT", snapshot: { ...objectOf(this.#init.state), plan: event.plan } };
        break;
      case "subagent":
        yield* this.#subagent(event);
        break;
      case "mcp_progress": {
        const { call_id: toolCallId, server, progress, total, message } = event;
        yield custom("progress", { toolCallId, server, progress, total, message });
        break;
      }
      case "artifact": {
        const { artifact_id: id, call_id: toolCallId, media_type: mediaType, bytes } = event;
        yield custom("artifact", { id, toolCallId, mediaType, bytes });
        break;
      }
      case "context": {
        const { action, detail, tokens_before: tokensBefore, tokens_after: tokensAfter } = event;
        yield custom("context", { action, detail, tokensBefore, tokensAfter });
        break;
      }
      case "handoff":
        yield custom("handoff", { from: event.from, to: event.to, reason: event.reason });
        break;
      case "approval": {
        const { approval_id: id, kind, state, tool, decided_by: decidedBy = null } = event;
        yield custom("approval", { id, kind, state, tool, decidedBy });
        break;
      }
      case "status":
        if (isOurs) yield* this.#status(event);
        break;
      default:
        break;
    }
  }

  *#step(stepName: string, state: "started" | "completed"): Generator<AgUiEvent> {
    if (state === "started") {
      this.#steps.add(stepName);
      yield { type: "STEP_STARTED", stepName };
    } else if (this.#steps.delete(stepName)) yield { type: "STEP_FINISHED", stepName };
  }

  *#result({ call_id: toolCallId, tool, output }: DurableEventOf<"tool_result">): Generator<AgUiEvent> {
    // The client has the results of its own tools.
    if (!this.#calls.has(toolCallId) || this.#init.clientTools.has(tool)) return;
    const content =
      output.type === "text"
        ? output.value
        : JSON.stringify(output.type === "json" ? output.value : { error: output.failure.message });
    const messageId = `${toolCallId}.result`;
    this.#transcript.result(messageId, toolCallId, content);
    yield { type: "TOOL_CALL_RESULT", messageId, toolCallId, content, role: "tool" };
  }

  *#subagent(event: DurableEventOf<"subagent">): Generator<AgUiEvent> {
    const { child_run_id: subagentRunId, call_id, state, status } = event;
    if (!this.#subagents.has(subagentRunId)) {
      this.#subagents.add(subagentRunId);
      const parent = this.#calls.has(call_id) ? { parentToolCallId: call_id } : {};
      yield { type: "SUBAGENT_STARTED", subagentRunId, name: this.#init.agent, ...parent };
    }
    if (state === "started") return;
    this.#subagents.delete(subagentRunId);
    yield status === "error"
      ? { type: "SUBAGENT_ERROR", subagentRunId, message: "The sub-agent failed." }
      : { type: "SUBAGENT_FINISHED", subagentRunId, outcome: { type: "success" } };
  }

  *#paused(waiting: readonly Approval[]): Generator<AgUiEvent> {
    const pendingToolCallIds = waiting.flatMap(({ kind, call_id }) =>
      kind === "client_tool" && call_id !== null ? [call_id] : [],
    );
    const interrupts = waiting
      .filter(({ kind }) => kind !== "client_tool")
      .map((one) => this.#interrupt(one));
    const outcome =
      interrupts.length > 0 ? { type: "interrupt", interrupts } : { type: "success", pendingToolCallIds };
    yield* this.#finish(outcome);
  }

  #interrupt(approval: Approval): Readonly<Record<string, unknown>> {
    const { id, kind, reasons, call_id, deadline, tool, arguments: args, response_schema } = approval;
    const isShown = call_id !== null && this.#calls.has(call_id);
    const metadata = { kind, tool, arguments: args, url: approvalLink(this.#init.publicUrl, id) };
    return {
      id,
      reason: kind === "tool_call" ? "tool_approval" : kind,
      message: reasons.join("; ") || `A decision on ${tool ?? "the run"} is needed.`,
      ...(isShown ? { toolCallId: call_id } : {}),
      responseSchema: kind === "elicitation" ? (response_schema ?? {}) : VERDICT,
      ...(deadline === null ? {} : { expiresAt: new Date(deadline).toISOString() }),
      metadata,
    };
  }

  *#status({ status, reason, failure, stop_reason }: DurableEventOf<"status">): Generator<AgUiEvent> {
    if (status === "completed")
      yield* this.#finish({ type: "success" }, { stopReason: stop_reason, ...(reason ? { reason } : {}) });
    else if (status === "cancelled") yield* this.#finish({ type: "cancelled" });
    else if (status === "error" || status === "parked")
      yield this.#error(failure?.message ?? reason ?? `The run is ${status}.`, failure?.code ?? status);
  }

  *#finish(outcome: object, result?: object): Generator<AgUiEvent> {
    this.#isOver = true;
    for (const beat of this.#beats.end()) yield* this.#beat(beat);
    yield* this.#closeParts();
    for (const subagentRunId of this.#subagents)
      yield { type: "SUBAGENT_FINISHED", subagentRunId, outcome: { type: "suspended" } };
    for (const stepName of this.#steps) yield { type: "STEP_FINISHED", stepName };
    const { threadId, clientRunId: runId } = this.#init;
    const more = result === undefined ? {} : { result };
    yield { type: "RUN_FINISHED", threadId, runId, outcome, usage: this.#used(), ...more };
  }

  *#closeParts(): Generator<AgUiEvent> {
    for (const id of this.#openReasoning) yield* this.#endReasoning(id);
    for (const messageId of this.#openText) yield { type: "TEXT_MESSAGE_END", messageId };
    for (const toolCallId of this.#openCalls) yield { type: "TOOL_CALL_END", toolCallId };
    this.#openText.clear();
    this.#openCalls.clear();
  }

  #error(message: string, code: string): AgUiEvent {
    this.#isOver = true;
    return { type: "RUN_ERROR", message, code, usage: this.#used() };
  }

  #used(): readonly object[] {
    const { input, cached, written, output, reasoning } = this.#usage.since;
    return [
      {
        inputTokens: input,
        outputTokens: output,
        totalTokens: input + output,
        reasoningTokens: reasoning,
        cachedInputTokens: cached,
        cacheWriteInputTokens: written,
      },
    ];
  }
}

/** What an interrupt for an approval is resumed with. */
const VERDICT = {
  type: "object",
  properties: { approved: { type: "boolean" }, reason: { type: "string" } },
  required: ["approved"],
};

function custom(name: string, value: object): AgUiEvent {
  return { type: "CUSTOM", name, value };
}

function objectOf(value: unknown): object {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
