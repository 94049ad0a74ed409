import type { DurableEvent, DurableEventOf, Failure, JsonObject, Usage } from "trackside";
import { modelAttributes, usageAttributes } from "./attributes.ts";
import { Chat } from "./chat.ts";
import type { RunMetrics } from "./metrics.ts";
import {
  type Attributes,
  FAILED,
  KIND,
  type Otel,
  readTraceparent,
  type Span,
  type SpanContext,
  type Tracer,
  timeOf,
} from "./otel.ts";

/** What a run's events do not say about it. */
export interface RunFacts {
  readonly run_id: string;
  readonly agent?: string;
  /** As in the definition: `provider:model`. */
  readonly model?: string;
  readonly conversation_id?: string;
  readonly parent_run_id?: string | null;
  readonly tenant?: string;
  /** Of `traceparent(run_id)`, where an earlier process kept it with the run. */
  readonly traceparent?: string;
}

export interface TraceParts {
  readonly otel: Otel;
  readonly tracer: Tracer;
  readonly metrics: RunMetrics;
  readonly content: boolean;
}

/** Whose usage is that of rails asking models of their own. */
const RAILS = "rails";

/** The spans of one run, from its events. One span is held open at most, and none while the run waits. */
export class RunTrace {
  readonly #parts: TraceParts;
  readonly #facts: RunFacts;
  /** The span this run belongs below: the caller's, or the parent run's. */
  readonly #parent: SpanContext | undefined;
  /** The first span of this run, and the latest; what comes after a wait is in the trace of the first, linked to the latest. */
  #first: SpanContext | undefined;
  #latest: SpanContext | undefined;
  #root: Span | undefined;
  #recovered: boolean;
  #startedAt: number | undefined;
  #lastAt = 0;
  #lastSeq = 0;
  #total: Usage | undefined;
  readonly #chats = new Map<string, Chat>();
  readonly #calls = new Map<string, JsonObject | null>();
  readonly #pending = new Set<string>();
  #waits = false;

  constructor(parts: TraceParts, facts: RunFacts, parent: SpanContext | undefined, recovered: boolean) {
    this.#parts = parts;
    this.#facts = facts;
    this.#parent = parent;
    this.#recovered = recovered;
    this.#first = readTraceparent(facts.traceparent);
    this.#latest = this.#first;
  }

  /** Where spans of child runs and later parts of this run belong. */
  get context(): SpanContext | undefined {
    return this.#first;
  }

  get open(): boolean {
    return this.#root !== undefined;
  }

  /** Somebody has to decide before it goes on, and that may take days. */
  get waiting(): boolean {
    return this.#waits || this.#pending.size > 0;
  }

  /** Whether the run is over. */
  onEvent(event: DurableEvent): boolean {
    if (event.seq <= this.#lastSeq) return false; // told twice, as after a recovery
    this.#lastSeq = event.seq;
    this.#lastAt = event.at;
    this.#waits = event.type === "status" && (event.status === "waiting" || event.status === "parked");
    const root = this.#root ?? this.#begin(event);
    switch (event.type) {
      case "status":
        return this.#status(root, event);
      case "step":
        this.#step(event);
        break;
      case "usage":
        this.#usage(event);
        break;
      case "text":
      case "reasoning":
        this.#said(event, { type: event.type, content: event.text });
        break;
      case "tool_call":
        this.#calls.set(event.call_id, this.#parts.content ? event.arguments : null);
        this.#said(event, {
          type: "tool_call",
          id: event.call_id,
          name: event.tool,
          arguments: event.arguments,
        });
        break;
      case "tool_result":
        this.#result(event);
        break;
      case "approval":
        this.#approval(root, event);
        break;
      case "error":
        this.#error(root, event);
        break;
      default:
        this.#mention(root, event);
    }
    return false;
  }

  /** Closes what is open, as of the last event: the run waits, or another process goes on with it. */
  rest(status: string): void {
    if (this.#root === undefined) return;
    for (const [path, chat] of this.#chats) if (chat.endedAt !== undefined) this.#flush(path);
    this.#root.setAttributes({ "trackside.run.status": status });
    this.#root.end(timeOf(this.#lastAt));
    this.#root = undefined;
  }

  #begin(event: DurableEvent): Span {
    const { agent, conversation_id, model, run_id, tenant } = this.#facts;
    const { otel, tracer } = this.#parts;
    const earlier = this.#latest;
    if (event.type === "status" && event.status === "starting") this.#startedAt = event.at;
    const root = tracer.startSpan(
      agent === undefined ? "invoke_agent" : `invoke_agent ${agent}`,
      {
        kind: KIND.internal,
        startTime: timeOf(event.at),
        attributes: {
          "gen_ai.operation.name": "invoke_agent",
          ...modelAttributes(model),
          ...(agent === undefined ? {} : { "gen_ai.agent.name": agent }),
          ...(conversation_id === undefined ? {} : { "gen_ai.conversation.id": conversation_id }),
          ...(tenant === undefined ? {} : { "trackside.tenant": tenant }),
          ...(this.#recovered ? { "trackside.recovered": true } : {}),
          ...(earlier === undefined ? {} : { "trackside.continued": true }),
          "trackside.run.id": run_id,
          "trackside.turn_ref": event.turn_ref,
        },
        ...(earlier === undefined ? {} : { links: [{ context: earlier }] }),
      },
      otel.below(this.#first ?? this.#parent),
    );
    this.#recovered = false;
    this.#root = root;
    this.#latest = root.spanContext();
    this.#first ??= this.#latest;
    return root;
  }

  #status(root: Span, event: DurableEventOf<"status">): boolean {
    switch (event.status) {
      case "starting":
        return false;
      case "waiting":
        root.addEvent("trackside.waiting", {}, timeOf(event.at));
        return false;
      case "parked":
        root.addEvent("trackside.parked", this.#why(event.reason), timeOf(event.at));
        this.rest("parked");
        return false;
      default:
        this.#end(root, event);
        return true;
    }
  }

  #end(root: Span, { at, status, stop_reason, failure }: DurableEventOf<"status">): void {
    for (const path of [...this.#chats.keys()]) this.#flush(path);
    const error: Attributes = failure === undefined ? {} : { "error.type": failure.code };
    root.setAttributes({
      "trackside.run.status": status,
      ...(stop_reason === undefined ? {} : { "trackside.stop_reason": stop_reason }),
      ...(this.#total === undefined ? {} : usageAttributes(this.#total)),
      ...error,
    });
    if (failure !== undefined) root.setStatus(this.#failed(failure));
    root.end(timeOf(at));
    this.#root = undefined;
    const { model, agent } = this.#facts;
    const about = {
      ...modelAttributes(model),
      ...(agent === undefined ? {} : { "gen_ai.agent.name": agent }),
    };
    // Of a run that began in another process the beginning is not known here.
    if (this.#startedAt !== undefined)
      this.#parts.metrics.duration("invoke_agent", this.#startedAt, at, { ...about, ...error });
  }

  #step(event: DurableEventOf<"step">): void {
    const path = event.path.join("/");
    this.#flush(path);
    if (event.state === "started") this.#chats.set(path, new Chat(event, this.#facts.model));
  }

  #usage(event: DurableEventOf<"usage">): void {
    this.#total = event.total;
    if (event.model === RAILS) {
      this.#parts.metrics.tokens(event.call, {
        "gen_ai.provider.name": "trackside",
        "trackside.source": RAILS,
      });
      return;
    }
    this.#chats.get(event.path.join("/"))?.used(event);
    this.#parts.metrics.tokens(event.call, modelAttributes(event.model));
  }

  #said(event: DurableEvent, part: JsonObject): void {
    this.#chats.get(event.path.join("/"))?.said(event.at, this.#parts.content ? part : undefined);
  }

  /** What the model call of a step has become, once it is clear that nothing more comes of it. */
  #flush(path: string): void {
    const chat = this.#chats.get(path);
    if (chat === undefined) return;
    this.#chats.delete(path);
    const ended = chat.write(
      (name, kind, at, attributes) => this.#child(name, kind, at, attributes),
      this.#lastAt,
    );
    const error: Attributes = chat.failure === undefined ? {} : { "error.type": chat.failure };
    this.#parts.metrics.duration("chat", chat.startedAt, ended, { ...chat.model, ...error });
  }

  #result({ call_id, tool, output, metadata }: DurableEventOf<"tool_result">): void {
    const { content, metrics } = this.#parts;
    const { status, started_at, completed_at } = metadata;
    const code = output.type === "error" ? output.failure.code : undefined;
    // A call that somebody refused did not fail: it did not happen.
    const error: Attributes =
      status === "error" || status === "timed_out" ? { "error.type": code ?? status } : {};
    const args = this.#calls.get(call_id);
    this.#calls.delete(call_id);
    const span = this.#child(`execute_tool ${tool}`, KIND.internal, started_at, {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": tool,
      "gen_ai.tool.type": "function",
      "gen_ai.tool.call.id": call_id,
      "trackside.tool.status": status,
      "trackside.tool.attempts": metadata.attempts,
      "trackside.approval.status": metadata.approval_status,
      ...(metadata.approval_id === null
        ? {}
        : {
            "trackside.approval.id": metadata.approval_id,
            "trackside.approval.wait_ms": metadata.approval_wait_ms,
          }),
      ...(metadata.skipped_by === null ? {} : { "trackside.skipped_by": metadata.skipped_by }),
      ...error,
      ...(content ? { "gen_ai.tool.call.result": JSON.stringify(output) } : {}),
      ...(content && args ? { "gen_ai.tool.call.arguments": JSON.stringify(args) } : {}),
    });
    if (metadata.attempts > 1)
      span.addEvent("trackside.retry", { "trackside.attempts": metadata.attempts }, timeOf(completed_at));
    if (output.type === "error" && "error.type" in error) span.setStatus(this.#failed(output.failure));
    span.end(timeOf(completed_at));
    if (metadata.attempts > 0 && completed_at >= started_at && status !== "rejected")
      metrics.duration("execute_tool", started_at, completed_at, { "gen_ai.tool.name": tool, ...error });
  }

  #approval(root: Span, event: DurableEventOf<"approval">): void {
    const { approval_id, kind, state, call_id, tool, decided_by, at } = event;
    const pending = state === "pending";
    if (pending) this.#pending.add(approval_id);
    else this.#pending.delete(approval_id);
    root.addEvent(
      pending ? "trackside.approval.requested" : "trackside.approval.decided",
      {
        "trackside.approval.id": approval_id,
        "trackside.approval.kind": kind,
        "trackside.approval.state": state,
        ...(call_id === null ? {} : { "gen_ai.tool.call.id": call_id }),
        ...(tool === null ? {} : { "gen_ai.tool.name": tool }),
        ...(decided_by === undefined ? {} : { "trackside.approval.decided_by": decided_by }),
        ...(this.#parts.content ? { "trackside.approval.reasons": [...event.reasons] } : {}),
      },
      timeOf(at),
    );
  }

  #error(root: Span, event: DurableEventOf<"error">): void {
    const { failure, attempt, retry_in_ms, skipped, at } = event;
    const chat = this.#chats.get(event.path.join("/"));
    const about: Attributes = { "error.type": failure.code, ...this.#why(failure.message) };
    if (retry_in_ms !== undefined) {
      const retry = { ...about, "trackside.attempt": attempt ?? 1, "trackside.retry_in_ms": retry_in_ms };
      if (chat === undefined) root.addEvent("trackside.retry", retry, timeOf(at));
      else chat.happened("trackside.retry", at, retry);
    } else if (skipped) root.addEvent("trackside.skipped", about, timeOf(at));
    else if (failure.code === "model_failed" || failure.code === "model_unavailable")
      chat?.failed(at, failure.code);
  }

  /** What else is worth a mark on the run's span. */
  #mention(root: Span, event: DurableEvent): void {
    const at = timeOf(event.at);
    switch (event.type) {
      case "rail":
        for (const { rail, point, action, reason, shadow } of event.records)
          root.addEvent(
            "trackside.rail",
            {
              "trackside.rail": rail,
              "trackside.point": point,
              "trackside.action": action,
              "trackside.shadow": shadow,
              ...this.#why(reason),
            },
            at,
          );
        break;
      case "message_retracted":
        root.addEvent(
          "trackside.retracted",
          { "trackside.attempt": event.attempt, ...this.#why(event.reason) },
          at,
        );
        break;
      case "handoff":
        root.addEvent("trackside.handoff", { "trackside.from": event.from, "trackside.to": event.to }, at);
        break;
      case "subagent":
        root.addEvent(
          "trackside.subagent",
          { "trackside.child_run.id": event.child_run_id, "trackside.state": event.state },
          at,
        );
        break;
      case "context":
        root.addEvent("trackside.context", { "trackside.action": event.action }, at);
        break;
    }
  }

  #child(name: string, kind: number, at: number, attributes: Attributes): Span {
    const { otel, tracer } = this.#parts;
    return tracer.startSpan(name, { kind, startTime: timeOf(at), attributes }, otel.below(this.#latest));
  }

  /** Messages and reasons may repeat what users and models wrote. */
  #why(text: string | undefined): Attributes {
    return this.#parts.content && text ? { "trackside.reason": text } : {};
  }

  #failed({ message }: Failure): { code: number; message?: string } {
    return this.#parts.content ? { code: FAILED, message } : { code: FAILED };
  }
}
