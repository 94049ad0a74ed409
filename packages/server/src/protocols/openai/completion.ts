import type { Approval, Failure } from "trackside";
import { Beats, isMain } from "../shared/beats.ts";
import { approvalLink } from "../shared/decide.ts";
import { UsageMeter } from "../shared/usage.ts";
import type { Moment } from "../shared/watch.ts";

export interface CompletionInit {
  readonly runId: string;
  readonly conversationId: string;
  readonly model: string;
  readonly created: number;
  /** Only the last text is the answer: the agent answers in a form, or may take an answer back. */
  readonly holdsText: boolean;
  readonly publicUrl?: string | undefined;
}

interface ToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

/** Why a run is not done, for clients that look: `trackside` beside what OpenAI has. */
interface Aside {
  readonly run_id: string;
  readonly conversation_id: string;
  readonly status?: string;
  readonly stop_reason?: string;
  readonly reason?: string;
  readonly approvals?: readonly object[];
}

/** A run as one chat completion: the same text whether it is streamed or not. */
export class Completion {
  readonly #init: CompletionInit;
  readonly #beats: Beats;
  readonly #usage = new UsageMeter();
  #text = "";
  #held = "";
  #isApart = false;
  #calls: readonly ToolCall[] = [];
  #finish: string | null = null;
  #aside: Partial<Aside> = {};
  failure: Pick<Failure, "code" | "message"> | undefined;

  constructor(init: CompletionInit) {
    this.#init = init;
    this.#beats = new Beats(init.runId);
  }

  /** Takes one moment and yields what it adds to the text. */
  *read(moment: Moment): Generator<string> {
    if (moment.kind === "paused") {
      yield* this.#paused(moment.waiting);
      return;
    }
    const { event, isPast } = moment;
    this.#usage.read(event, this.#init.runId, isPast);
    for (const beat of this.#beats.read(event)) {
      if (isPast) continue;
      if (beat.type === "text_start" && this.#text !== "") this.#isApart = true;
      if (beat.type === "text") yield* this.#say(beat.delta);
      if (beat.type === "retracted" && beat.wasShown) this.#retracted(beat.reason);
      if (beat.type === "call_start") this.#held = ""; // said on the way to the answer
    }
    if (!isPast && event.type === "status" && isMain(event, this.#init.runId)) {
      const { status, stop_reason, reason, failure } = event;
      if (status === "completed") {
        yield* this.#release();
        this.#finish = stop_reason === "max_steps" || stop_reason === "budget" ? "length" : "stop";
        this.#aside = {
          status,
          ...(stop_reason === undefined ? {} : { stop_reason }),
          ...(reason === undefined ? {} : { reason }),
        };
      } else if (status !== "starting" && status !== "waiting")
        this.failure ??= failure ?? {
          code: status === "cancelled" ? "cancelled" : "internal",
          message: `The run is ${status}${reason === undefined ? "" : `: ${reason}`}`,
        };
    }
  }

  /** Whether the run has come to its end, or to where it waits. */
  get isOver(): boolean {
    return this.#finish !== null || this.failure !== undefined;
  }

  *#say(delta: string): Generator<string> {
    if (this.#init.holdsText) {
      this.#held += delta;
      return;
    }
    const text = this.#isApart ? `\n\n${delta}` : delta;
    this.#isApart = false;
    this.#text += text;
    yield text;
  }

  *#release(): Generator<string> {
    this.#text += this.#held;
    if (this.#held !== "") yield this.#held;
    this.#held = "";
  }

  #retracted(reason: string): void {
    if (this.#init.holdsText) this.#held = "";
    else if (this.#text !== "")
      this.failure = {
        code: "internal",
        message: `What was streamed of the answer was taken back: ${reason}. Ask again without \`stream\`.`,
      };
  }

  *#paused(waiting: readonly Approval[]): Generator<string> {
    const mine = waiting.filter(({ kind }) => kind === "client_tool");
    const others = waiting.filter(({ kind }) => kind !== "client_tool");
    this.#calls = mine.map(({ call_id, tool, arguments: args }) => ({
      id: call_id ?? "",
      type: "function",
      function: { name: tool ?? "", arguments: JSON.stringify(args ?? {}) },
    }));
    const approvals = others.map(({ id, kind, tool, arguments: args, reasons, deadline }) => ({
      id,
      kind,
      tool,
      arguments: args,
      reasons,
      deadline,
      url: approvalLink(this.#init.publicUrl, id),
    }));
    this.#aside = { status: "waiting", ...(approvals.length > 0 ? { approvals } : {}) };
    this.#finish = mine.length > 0 ? "tool_calls" : "stop";
    if (mine.length > 0) return;
    // A client that knows nothing of approvals still has something to show.
    const lines = approvals.map(
      ({ id, tool, url }) => `Waiting for a decision on ${tool ?? "a question"} (${id}): ${url}`,
    );
    this.#isApart = this.#text !== "";
    const notice = this.#isApart ? `\n\n${lines.join("\n")}` : lines.join("\n");
    this.#text += notice;
    yield notice;
  }

  get usage() {
    const { input, cached, output, reasoning } = this.#usage.since;
    return {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      prompt_tokens_details: { cached_tokens: cached },
      completion_tokens_details: { reasoning_tokens: reasoning },
    };
  }

  get #about(): Aside {
    return { run_id: this.#init.runId, conversation_id: this.#init.conversationId, ...this.#aside };
  }

  /** The whole of it. */
  toJSON() {
    const { runId, model, created } = this.#init;
    const calls = this.#calls.length > 0 ? { tool_calls: this.#calls } : {};
    const content = this.#text === "" && this.#calls.length > 0 ? null : this.#text;
    return {
      id: `chatcmpl-${runId}`,
      object: "chat.completion",
      created,
      model,
      choices: [
        {
          index: 0,
          message: { role: "assistant", content, refusal: null, ...calls },
          logprobs: null,
          finish_reason: this.#finish ?? "stop",
        },
      ],
      usage: this.usage,
      trackside: this.#about,
    };
  }

  chunk(delta: object, finish: string | null = null) {
    const { runId, model, created } = this.#init;
    const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
    return { id: `chatcmpl-${runId}`, object: "chat.completion.chunk", created, model, choices };
  }

  /** What ends a stream of chunks. */
  last(): object[] {
    const calls = this.#calls.map((call, index) => ({ index, ...call }));
    return [
      ...(calls.length > 0 ? [this.chunk({ tool_calls: calls })] : []),
      { ...this.chunk({}, this.#finish ?? "stop"), trackside: this.#about },
    ];
  }

  usageChunk() {
    return { ...this.chunk({}), choices: [], usage: this.usage };
  }
}
