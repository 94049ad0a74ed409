import type { DurableEventOf, Json, Usage } from "trackside";
import { modelAttributes, usageAttributes } from "./attributes.ts";
import { type Attributes, FAILED, KIND, type Span, timeOf } from "./otel.ts";

type Part = { readonly [key: string]: Json };

/** A model call as far as it is known: its span is made when it is over, so nothing stays open for it. */
export class Chat {
  readonly startedAt: number;
  readonly step: number;
  #endedAt: number | undefined;
  #model: string | undefined;
  #usage: Usage | undefined;
  #failure: string | undefined;
  readonly #happened: { name: string; at: number; attributes: Attributes }[] = [];
  readonly #parts: Part[] = [];

  constructor({ at, step }: DurableEventOf<"step">, model: string | undefined) {
    this.startedAt = at;
    this.step = step;
    this.#model = model;
  }

  get endedAt(): number | undefined {
    return this.#endedAt;
  }

  get model(): Attributes {
    return modelAttributes(this.#model);
  }

  get failure(): string | undefined {
    return this.#failure;
  }

  /** Attempts add up: the span is of the whole call, retries and all. */
  used({ at, model, call }: DurableEventOf<"usage">): void {
    this.#endedAt = at;
    this.#model = model;
    this.#usage = this.#usage === undefined ? call : sum(this.#usage, call);
  }

  said(at: number, part?: Part): void {
    this.#endedAt ??= at;
    if (part !== undefined) this.#parts.push(part);
  }

  happened(name: string, at: number, attributes: Attributes): void {
    this.#happened.push({ name, at, attributes });
  }

  failed(at: number, code: string): void {
    this.#endedAt = at;
    this.#failure = code;
  }

  write(start: (name: string, kind: number, at: number, attributes: Attributes) => Span, at: number): number {
    const ended = this.#endedAt ?? at;
    const named = this.model["gen_ai.request.model"];
    const span = start(named === undefined ? "chat" : `chat ${named}`, KIND.client, this.startedAt, {
      "gen_ai.operation.name": "chat",
      ...this.model,
      ...(this.#usage === undefined ? {} : usageAttributes(this.#usage)),
      ...(this.#failure === undefined ? {} : { "error.type": this.#failure }),
      ...(this.#parts.length === 0 ? {} : { "gen_ai.output.messages": this.#spoken() }),
      "trackside.step": this.step,
    });
    for (const { name, at: when, attributes } of this.#happened)
      span.addEvent(name, attributes, timeOf(when));
    if (this.#failure !== undefined) span.setStatus({ code: FAILED });
    span.end(timeOf(ended));
    return ended;
  }

  #spoken(): string {
    return JSON.stringify([{ role: "assistant", parts: this.#parts }]);
  }
}

function sum(a: Usage, b: Usage): Usage {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    cached_input_tokens: a.cached_input_tokens + b.cached_input_tokens,
    cache_write_tokens: a.cache_write_tokens + b.cache_write_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    reasoning_tokens: a.reasoning_tokens + b.reasoning_tokens,
    model_calls: a.model_calls + b.model_calls,
    cost: a.cost === null || b.cost === null ? null : a.cost + b.cost,
  };
}
