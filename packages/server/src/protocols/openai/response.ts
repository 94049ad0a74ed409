import type { Approval, DurableEvent, DurableEventOf, Failure, LiveEvent } from "trackside";
import { type Beat, Beats, isMain } from "../shared/beats.ts";
import { approvalLink } from "../shared/decide.ts";
import { UsageMeter } from "../shared/usage.ts";
import type { Moment } from "../shared/watch.ts";
import type { ResponseRequest } from "./response-request.ts";

export interface ResponseInit {
  readonly id: string;
  readonly runId: string;
  readonly conversationId: string;
  readonly createdAt: number;
  readonly request: Pick<
    ResponseRequest,
    "model" | "instructions" | "previous" | "metadata" | "store" | "format"
  >;
  readonly clientTools: ReadonlySet<string>;
  readonly holdsText: boolean;
  readonly publicUrl?: string | undefined;
}

type Item = { readonly type: string; readonly id: string } & Record<string, unknown>;
type StreamEvent = { readonly type: string } & Record<string, unknown>;

interface OpenItem {
  readonly index: number;
  readonly item: Item;
  text: string;
}

/**
 * A run as one response, built as it is streamed. Tools that run here are `mcp_call` items of a server with the agent's
 * name, what a human has to decide is an `mcp_approval_request`, and tools of the client are `function_call`s.
 */
export class ResponseBuilder {
  readonly #init: ResponseInit;
  readonly #beats: Beats;
  readonly #usage = new UsageMeter();
  readonly #output: Item[] = [];
  readonly #open = new Map<string, OpenItem>();
  readonly #calls = new Map<string, DurableEventOf<"tool_call">>();
  #held = "";
  #status: "in_progress" | "completed" | "incomplete" | "failed" | "cancelled" = "in_progress";
  #incomplete: string | null = null;
  #aside: Record<string, unknown> = {};
  #sequence = 0;
  failure: Pick<Failure, "code" | "message"> | undefined;

  constructor(init: ResponseInit) {
    this.#init = init;
    this.#beats = new Beats(init.runId);
  }

  /** Whether the run has come to its end, or to where it waits. */
  get isOver(): boolean {
    return this.#status !== "in_progress" || this.failure !== undefined;
  }

  *start(): Generator<StreamEvent> {
    yield this.#event("response.created", { response: this.toJSON() });
    yield this.#event("response.in_progress", { response: this.toJSON() });
  }

  *read(moment: Moment): Generator<StreamEvent> {
    if (moment.kind === "paused") {
      yield* this.#paused(moment.waiting);
      return;
    }
    const { event, isPast } = moment;
    this.#usage.read(event, this.#init.runId, isPast);
    if (event.type === "tool_call") this.#calls.set(event.call_id, event);
    for (const beat of this.#beats.read(event)) if (!isPast) yield* this.#beat(beat);
  }

  *end(): Generator<StreamEvent> {
    for (const beat of this.#beats.end()) yield* this.#beat(beat);
    const name = this.#status === "cancelled" || this.failure ? "failed" : this.#status;
    if (name !== "in_progress") yield this.#event(`response.${name}`, { response: this.toJSON() });
  }

  *#beat(beat: Beat): Generator<StreamEvent> {
    switch (beat.type) {
      case "text_start":
        if (!this.#init.holdsText) yield* this.#openText(beat.id);
        break;
      case "text":
        if (this.#init.holdsText) this.#held += beat.delta;
        else yield* this.#growText(beat.id, beat.delta);
        break;
      case "text_end":
        if (!this.#init.holdsText) yield* this.#closeText(beat.id);
        break;
      case "reasoning_start":
        yield* this.#openReasoning(beat.id);
        break;
      case "reasoning":
        yield* this.#growReasoning(beat.id, beat.delta);
        break;
      case "reasoning_end":
        yield* this.#closeReasoning(beat.id);
        break;
      case "call":
        this.#held = "";
        if (this.#init.clientTools.has(beat.event.tool)) yield* this.#functionCall(beat.event);
        break;
      case "retracted":
        this.#retracted(beat);
        break;
      case "event":
        yield* this.#other(beat.event);
        break;
      default:
        break;
    }
  }

  #retracted({ wasShown, reason }: Extract<Beat, { type: "retracted" }>): void {
    this.#held = "";
    if (!wasShown || this.#init.holdsText) return;
    const message = `What was streamed of the answer was taken back: ${reason}. Ask again without \`stream\`.`;
    this.failure = { code: "internal", message };
  }

  *#other(event: DurableEvent | LiveEvent): Generator<StreamEvent> {
    if (!isMain(event, this.#init.runId)) return;
    if (event.type === "tool_result") yield* this.#result(event);
    if (event.type !== "status") return;
    const { status, stop_reason = "answered", reason, failure } = event;
    if (status === "completed") {
      if (this.#held !== "") {
        const id = `${this.#init.runId}.answer`;
        yield* this.#openText(id);
        yield* this.#growText(id, this.#held);
        yield* this.#closeText(id);
      }
      const isCut = stop_reason === "max_steps" || stop_reason === "budget";
      this.#status = isCut ? "incomplete" : "completed";
      this.#incomplete = isCut ? stop_reason : null;
      this.#aside = { stop_reason, ...(reason === undefined ? {} : { reason }) };
    } else if (status === "error" || status === "parked" || status === "cancelled") {
      this.#status = status === "cancelled" ? "cancelled" : "failed";
      this.failure = failure ?? {
        code: status === "cancelled" ? "cancelled" : "internal",
        message: `The run is ${status}${reason === undefined ? "" : `: ${reason}`}`,
      };
    }
  }

  *#paused(waiting: readonly Approval[]): Generator<StreamEvent> {
    for (const { id, kind, tool, arguments: args } of waiting) {
      if (kind !== "tool_call") continue;
      yield* this.#whole({
        type: "mcp_approval_request",
        id,
        name: tool ?? "",
        arguments: JSON.stringify(args ?? {}),
        server_label: this.#init.request.model,
      });
    }
    const others = waiting.filter(({ kind }) => kind !== "tool_call" && kind !== "client_tool");
    this.#status = others.length > 0 ? "incomplete" : "completed";
    this.#incomplete = others.length > 0 ? "waiting_for_human" : null;
    const approvals = waiting
      .filter(({ kind }) => kind !== "client_tool")
      .map(({ id, kind, tool, reasons, deadline }) => {
        return { id, kind, tool, reasons, deadline, url: approvalLink(this.#init.publicUrl, id) };
      });
    this.#aside = { status: "waiting", approvals };
  }

  *#functionCall({ call_id, tool, arguments: args }: DurableEventOf<"tool_call">): Generator<StreamEvent> {
    const item: Item = {
      type: "function_call",
      id: `fc_${call_id}`,
      call_id,
      name: tool,
      arguments: "",
      status: "in_progress",
    };
    const { index } = yield* this.#add(item);
    const text = JSON.stringify(args ?? {});
    const at = { item_id: item.id, output_index: index };
    yield this.#event("response.function_call_arguments.delta", { ...at, delta: text });
    yield this.#event("response.function_call_arguments.done", { ...at, name: tool, arguments: text });
    yield this.#done(index, { ...item, arguments: text, status: "completed" });
  }

  /** A call that ran here. It shows once it is over: until then it may turn out to wait for somebody. */
  *#result({ call_id, tool, output, metadata }: DurableEventOf<"tool_result">): Generator<StreamEvent> {
    if (this.#init.clientTools.has(tool)) return;
    const failed = output.type === "error" ? output.failure : undefined;
    const text =
      output.type === "text" ? output.value : output.type === "json" ? JSON.stringify(output.value) : null;
    yield* this.#whole({
      type: "mcp_call",
      id: `mcp_${call_id}`,
      name: tool,
      arguments: JSON.stringify(this.#calls.get(call_id)?.arguments ?? {}),
      server_label: this.#init.request.model,
      approval_request_id: metadata.approval_id,
      output: text,
      error: failed === undefined ? null : { type: "mcp_tool_execution_error", content: failed.message },
      status: failed === undefined ? "completed" : "failed",
    });
  }

  *#openText(id: string): Generator<StreamEvent> {
    const item: Item = {
      type: "message",
      id: `msg_${id}`,
      role: "assistant",
      status: "in_progress",
      content: [],
    };
    const open = yield* this.#add(item);
    this.#open.set(id, open);
    yield this.#event("response.content_part.added", { ...inContent(open), part: outputText("") });
  }

  *#growText(id: string, delta: string): Generator<StreamEvent> {
    const open = this.#open.get(id);
    if (open === undefined) return;
    open.text += delta;
    yield this.#event("response.output_text.delta", { ...inContent(open), delta, logprobs: [] });
  }

  *#closeText(id: string): Generator<StreamEvent> {
    const open = this.#open.get(id);
    if (open === undefined) return;
    this.#open.delete(id);
    const { text, item, index } = open;
    yield this.#event("response.output_text.done", { ...inContent(open), text, logprobs: [] });
    yield this.#event("response.content_part.done", { ...inContent(open), part: outputText(text) });
    yield this.#done(index, { ...item, status: "completed", content: [outputText(text)] });
  }

  *#openReasoning(id: string): Generator<StreamEvent> {
    const open = yield* this.#add({ type: "reasoning", id: `rs_${id}`, summary: [] });
    this.#open.set(id, open);
    yield this.#event("response.reasoning_summary_part.added", { ...inSummary(open), part: summaryText("") });
  }

  *#growReasoning(id: string, delta: string): Generator<StreamEvent> {
    const open = this.#open.get(id);
    if (open === undefined) return;
    open.text += delta;
    yield this.#event("response.reasoning_summary_text.delta", { ...inSummary(open), delta });
  }

  *#closeReasoning(id: string): Generator<StreamEvent> {
    const open = this.#open.get(id);
    if (open === undefined) return;
    this.#open.delete(id);
    const { text, item, index } = open;
    yield this.#event("response.reasoning_summary_text.done", { ...inSummary(open), text });
    yield this.#event("response.reasoning_summary_part.done", {
      ...inSummary(open),
      part: summaryText(text),
    });
    yield this.#done(index, { ...item, summary: [summaryText(text)] });
  }

  *#whole(item: Item): Generator<StreamEvent> {
    const { index } = yield* this.#add(item);
    yield this.#done(index, item);
  }

  *#add(item: Item): Generator<StreamEvent, OpenItem> {
    const index = this.#output.push(item) - 1;
    yield this.#event("response.output_item.added", { output_index: index, item });
    return { index, item, text: "" };
  }

  #done(index: number, item: Item): StreamEvent {
    this.#output[index] = item;
    return this.#event("response.output_item.done", { output_index: index, item });
  }

  #event(type: string, about: object): StreamEvent {
    this.#sequence += 1;
    return { type, sequence_number: this.#sequence - 1, ...about };
  }

  toJSON() {
    const { id, runId, conversationId, createdAt, request } = this.#init;
    const { input, cached, written, output, reasoning } = this.#usage.since;
    const isOver = this.#status !== "in_progress";
    return {
      id,
      object: "response",
      created_at: createdAt,
      status: this.failure ? "failed" : this.#status,
      error: this.failure ? { code: "server_error", message: this.failure.message } : null,
      incomplete_details: this.#incomplete === null ? null : { reason: this.#incomplete },
      instructions: request.instructions,
      metadata: request.metadata,
      model: request.model,
      output: [...this.#output],
      parallel_tool_calls: true,
      temperature: null,
      tool_choice: "auto",
      tools: [],
      top_p: null,
      previous_response_id: request.previous,
      conversation: { id: conversationId },
      store: request.store,
      text: { format: request.format ?? { type: "text" } },
      usage: isOver
        ? {
            input_tokens: input,
            input_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
            output_tokens: output,
            output_tokens_details: { reasoning_tokens: reasoning },
            total_tokens: input + output,
          }
        : null,
      trackside: { run_id: runId, conversation_id: conversationId, ...this.#aside },
    };
  }
}

const inContent = ({ item, index }: OpenItem) => ({
  item_id: item.id,
  output_index: index,
  content_index: 0,
});
const inSummary = ({ item, index }: OpenItem) => ({
  item_id: item.id,
  output_index: index,
  summary_index: 0,
});
const outputText = (text: string) => ({ type: "output_text", text, annotations: [], logprobs: [] });
const summaryText = (text: string) => ({ type: "summary_text", text });
