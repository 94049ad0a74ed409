import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import { partStream } from "../local/providers/part-stream.ts";

/** A tool call the model asks for. `rawArgs` is sent as it is, for arguments that are not valid JSON. */
export type ScriptedCall = { tool: string; args?: object; rawArgs?: string; id?: string };

/** What the model answers to one request. A plain string is `{ text }`. */
export type ScriptedReply = {
  reasoning?: string;
  text?: string;
  calls?: readonly ScriptedCall[];
  /** Why it stopped; `tool-calls` or `stop` unless given. */
  finish?: LanguageModelV4FinishReason["unified"];
  /** Token counts; `{ input: 10, output: 5 }` unless given. */
  usage?: { input: number; output: number; cachedInput?: number; reasoning?: number };
  /** Thrown instead of an answer, or after `errorAfter` parts of it. */
  error?: unknown;
  /** Fails after this many stream parts; the first two are `stream-start` and `response-metadata`. */
  errorAfter?: number;
  /** How a failure after `errorAfter` shows: as an `error` part (default), or as a stream that breaks. */
  errorAs?: "part" | "break";
  /** Waits before the answer starts. */
  delayMs?: number;
  /** Waits before each part. */
  chunkDelayMs?: number;
  /** Never answers; only an abort ends the call. */
  hang?: true;
  /** Falls silent after this many stream parts; only an abort ends the call. */
  hangAfter?: number;
  /** The stream, part for part, instead of all of the above but failures and delays. */
  parts?: readonly LanguageModelV4StreamPart[];
};

/** One request as the model received it. */
export type ScriptedRequest = {
  /** 0 for the first. */
  index: number;
  mode: "stream" | "generate";
  prompt: LanguageModelV4CallOptions["prompt"];
  tools: NonNullable<LanguageModelV4CallOptions["tools"]>;
  /** All call options but the abort signal. */
  options: Omit<LanguageModelV4CallOptions, "abortSignal">;
};

export type ScriptedStep =
  | string
  | ScriptedReply
  | ((request: ScriptedRequest) => string | ScriptedReply | Promise<string | ScriptedReply>);

type Steps = Iterable<ScriptedStep> | AsyncIterable<ScriptedStep>;

/** Replies in order, or a generator of them, in which `yield` gives the request that the next reply answers. */
export type Script = readonly ScriptedStep[] | Steps | (() => Steps);

export type ScriptedModelOptions = {
  /** How text and arguments are cut into deltas: by words (default), every n characters, not at all, or by you. */
  chunk?: number | "whole" | ((text: string) => string[]);
  /** Starts again when the script has ended. */
  loop?: boolean;
  modelId?: string;
  provider?: string;
  /** Keeps requests as copies (default), as the objects that were passed, or not at all. */
  record?: "copy" | "reference" | "none";
  /** Replaces timers, for tests with a clock of their own. */
  sleep?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
};

export type ScriptedModel = LanguageModelV4 & {
  /** Every request so far, as it was when it came. */
  readonly requests: readonly ScriptedRequest[];
  /** Throws if replies are left over, or if a request came that the script has no reply for. */
  assertDone(): void;
};

/**
 * A model that says what it was told to, for tests, demos and benchmarks: no network, no clock, no chance.
 *
 * @example
 * const model = scriptedModel([{ calls: [{ tool: "weather", args: { city: "Oslo" } }] }, "It rains in Oslo."]);
 * const agent = new Agent({ name: "demo", model, tools: [weather] });
 * await agent.run("How is the weather?");
 * model.assertDone();
 */
export function scriptedModel(script: Script, options: ScriptedModelOptions = {}): ScriptedModel {
  const { modelId = "scripted", provider = "scripted", record = "copy", sleep = timer } = options;
  const cut = cutter(options.chunk);
  const steps = stepSource(script, options.loop ?? false);
  const requests: ScriptedRequest[] = [];
  let received = 0;
  let unexpected: Error | undefined;

  async function answer(
    mode: ScriptedRequest["mode"],
    call: LanguageModelV4CallOptions,
  ): Promise<ReplyIterator> {
    const signal = call.abortSignal;
    signal?.throwIfAborted();
    const request = readRequest(received++, mode, call, record === "copy");
    if (record !== "none") requests.push(request);

    const taken = steps.take(request);
    const step = taken instanceof Promise ? await untilAborted(taken, signal) : taken;
    if (step === undefined) {
      const error = unexpectedRequest(modelId, request, steps.taken());
      unexpected ??= error;
      throw error;
    }
    const made = typeof step === "function" ? step(request) : step;
    const said = made instanceof Promise ? await untilAborted(made, signal) : made;
    const reply: ScriptedReply = typeof said === "string" ? { text: said } : said;

    if (reply.delayMs !== undefined) await untilAborted(sleep(reply.delayMs, signal), signal);
    if (reply.hang) await untilAborted(silence(), signal);
    if (reply.error !== undefined && reply.errorAfter === undefined) throw reply.error;
    const parts = reply.parts ?? partsOf(reply, request.index, modelId, cut);
    return new ReplyIterator(reply, parts, signal, sleep);
  }

  return {
    specificationVersion: "v4",
    provider,
    modelId,
    supportedUrls: {},
    requests,
    async doStream(call) {
      const iterator = await answer("stream", call);
      return { stream: partStream(() => iterator) };
    },
    async doGenerate(call) {
      return generated(await answer("generate", call));
    },
    assertDone() {
      if (unexpected) throw unexpected;
      const left = steps.left();
      if (left === 0) return;
      const all = `${left} of ${left + steps.taken()} replies left`;
      throw new Error(`The scripted model "${modelId}" has ${all}; ${received} requests came.`);
    },
  };
}

type StepSource = {
  /** The reply to a request, undefined when the script has ended. */
  take(request: ScriptedRequest): ScriptedStep | undefined | Promise<ScriptedStep | undefined>;
  taken(): number;
  /** How many are left, as far as that can be known: a generator's future is not. */
  left(): number;
};

function stepSource(script: Script, loop: boolean): StepSource {
  return isArray(script) ? arraySource(script, loop) : generatorSource(script, loop);
}

function arraySource(script: readonly ScriptedStep[], loop: boolean): StepSource {
  let taken = 0;
  return {
    take: () => {
      const at = loop ? taken % script.length : taken;
      if (at < script.length) taken += 1;
      return script[at];
    },
    taken: () => taken,
    left: () => (loop ? 0 : script.length - taken),
  };
}

function generatorSource(script: Exclude<Script, readonly ScriptedStep[]>, loop: boolean): StepSource {
  let iterator = iterate(script);
  let taken = 0;
  return {
    async take(request) {
      let next = await iterator.next(request);
      if (next.done && loop) {
        iterator = iterate(script);
        next = await iterator.next(request);
      }
      if (next.done) return undefined;
      taken += 1;
      return next.value;
    },
    taken: () => taken,
    left: () => 0,
  };
}

function iterate(script: Steps | (() => Steps)): Iterator<ScriptedStep> | AsyncIterator<ScriptedStep> {
  const steps = typeof script === "function" ? script() : script;
  return Symbol.asyncIterator in steps ? steps[Symbol.asyncIterator]() : steps[Symbol.iterator]();
}

/** Plays one reply. No async method and nothing made ahead: a part costs one promise, the first as much as the last. */
class ReplyIterator implements AsyncIterator<LanguageModelV4StreamPart> {
  readonly #reply: ScriptedReply;
  readonly #parts: Iterator<LanguageModelV4StreamPart>;
  readonly #signal: AbortSignal | undefined;
  readonly #sleep: Sleep;
  #at = 0;
  #ended = false;

  constructor(
    reply: ScriptedReply,
    parts: Iterable<LanguageModelV4StreamPart>,
    signal: AbortSignal | undefined,
    sleep: Sleep,
  ) {
    this.#reply = reply;
    this.#parts = parts[Symbol.iterator]();
    this.#signal = signal;
    this.#sleep = sleep;
  }

  next(): Promise<Step> {
    const signal = this.#signal;
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    if (signal?.aborted) return this.#break(signal.reason);
    const pause = this.#reply.chunkDelayMs;
    if (pause === undefined) return this.#step();
    return untilAborted(this.#sleep(pause, signal), signal).then(() => this.#step());
  }

  return(): Promise<Step> {
    this.#ended = true;
    return Promise.resolve({ done: true, value: undefined });
  }

  #step(): Promise<Step> {
    const { errorAfter, hangAfter } = this.#reply;
    if (this.#at === hangAfter) return untilAborted(silence(), this.#signal);
    if (this.#at === errorAfter) return this.#fail();
    this.#at += 1;
    const { done, value } = this.#parts.next();
    if (!done) return Promise.resolve({ done: false, value });
    if (errorAfter !== undefined) return this.#fail(); // the reply was shorter than that
    this.#ended = true;
    return Promise.resolve({ done: true, value: undefined });
  }

  #fail(): Promise<Step> {
    const error = this.#reply.error ?? new Error("the scripted stream failed here");
    if (this.#reply.errorAs === "break") return this.#break(error);
    this.#ended = true;
    return Promise.resolve({ done: false, value: { type: "error", error } });
  }

  #break(error: unknown): Promise<Step> {
    this.#ended = true;
    return Promise.reject(error);
  }
}

type Step = IteratorResult<LanguageModelV4StreamPart, undefined>;
type Sleep = NonNullable<ScriptedModelOptions["sleep"]>;
type Cut = (text: string) => Iterable<string>;

function* partsOf(
  reply: ScriptedReply,
  index: number,
  modelId: string,
  cut: Cut,
): Generator<LanguageModelV4StreamPart, undefined> {
  const { reasoning, text, calls = [] } = reply;
  yield { type: "stream-start", warnings: [] };
  yield { type: "response-metadata", id: `reply-${index + 1}`, modelId };
  if (reasoning !== undefined) {
    yield { type: "reasoning-start", id: "reasoning" };
    for (const delta of cut(reasoning)) yield { type: "reasoning-delta", id: "reasoning", delta };
    yield { type: "reasoning-end", id: "reasoning" };
  }
  if (text !== undefined) {
    yield { type: "text-start", id: "text" };
    for (const delta of cut(text)) yield { type: "text-delta", id: "text", delta };
    yield { type: "text-end", id: "text" };
  }
  for (const [at, call] of calls.entries()) {
    const id = call.id ?? `call-${index + 1}-${at + 1}`;
    const input = call.rawArgs ?? JSON.stringify(call.args ?? {});
    yield { type: "tool-input-start", id, toolName: call.tool };
    for (const delta of cut(input)) yield { type: "tool-input-delta", id, delta };
    yield { type: "tool-input-end", id };
    yield { type: "tool-call", toolCallId: id, toolName: call.tool, input };
  }
  const unified = reply.finish ?? (calls.length > 0 ? "tool-calls" : "stop");
  yield { type: "finish", finishReason: { unified, raw: unified }, usage: usageOf(reply.usage) };
  return undefined;
}

function usageOf(usage: ScriptedReply["usage"] = { input: 10, output: 5 }): LanguageModelV4Usage {
  const { input, output, cachedInput = 0, reasoning = 0 } = usage;
  return {
    inputTokens: { total: input, noCache: input - cachedInput, cacheRead: cachedInput, cacheWrite: 0 },
    outputTokens: { total: output, text: output - reasoning, reasoning },
  };
}

function cutter(chunk: ScriptedModelOptions["chunk"]): Cut {
  if (chunk === undefined) return words;
  if (typeof chunk === "function") return chunk;
  if (chunk === "whole") return (text) => (text === "" ? [] : [text]);
  if (!Number.isInteger(chunk) || chunk < 1) {
    throw new RangeError(`chunk must be a whole number of characters, at least 1; it is ${chunk}`);
  }
  return (text) => pieces(text, chunk);
}

function* words(text: string): Generator<string, undefined> {
  const word = /\s*\S+(?:\s+$)?|\s+/g;
  for (let match = word.exec(text); match; match = word.exec(text)) yield match[0];
  return undefined;
}

function* pieces(text: string, size: number): Generator<string, undefined> {
  for (let from = 0, to = 0; from < text.length; from = to) {
    to = from + size;
    if (isHighSurrogate(text.charCodeAt(to - 1))) to += 1; // half a character is no character
    yield text.slice(from, to);
  }
  return undefined;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

async function generated(
  parts: AsyncIterator<LanguageModelV4StreamPart>,
): Promise<LanguageModelV4GenerateResult> {
  const content: LanguageModelV4Content[] = [];
  const open = new Map<string, { text: string }>();
  const result: LanguageModelV4GenerateResult = {
    content,
    finishReason: { unified: "interrupted", raw: undefined },
    usage: usageOf({ input: 0, output: 0 }),
    warnings: [],
  };
  for (let step = await parts.next(); !step.done; step = await parts.next()) {
    const part: LanguageModelV4StreamPart = step.value;
    switch (part.type) {
      case "text-start":
      case "reasoning-start": {
        const block = {
          type: part.type === "text-start" ? ("text" as const) : ("reasoning" as const),
          text: "",
        };
        content.push(block);
        open.set(part.id, block);
        break;
      }
      case "text-delta":
      case "reasoning-delta": {
        const block = open.get(part.id);
        if (block) block.text += part.delta;
        break;
      }
      case "finish":
        result.finishReason = part.finishReason;
        result.usage = part.usage;
        break;
      case "response-metadata": {
        const { type: _type, ...metadata } = part;
        result.response = metadata;
        break;
      }
      case "error":
        throw part.error;
      case "tool-call":
      case "tool-result":
      case "tool-approval-request":
      case "file":
      case "reasoning-file":
      case "source":
      case "custom":
        content.push(part);
        break;
    }
  }
  return result;
}

function readRequest(
  index: number,
  mode: ScriptedRequest["mode"],
  call: LanguageModelV4CallOptions,
  copied: boolean,
): ScriptedRequest {
  const { abortSignal: _signal, ...received } = call;
  const options = copied ? copy(received) : received;
  return { index, mode, prompt: options.prompt, tools: options.tools ?? [], options };
}

/** Prompts are JSON with files in it; what is neither plain nor bytes (a URL, a Date) does not change. */
function copy<T>(value: T): T {
  // Each branch makes the same kind of thing as it was given, which the type system cannot follow.
  if (Array.isArray(value)) return value.map(copy) as T;
  if (value instanceof Uint8Array) return value.slice() as T;
  if (typeof value !== "object" || value === null) return value;
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, copy(entry)])) as T;
}

function unexpectedRequest(modelId: string, request: ScriptedRequest, replies: number): Error {
  const last = shown(request.prompt.at(-1));
  const scripted = `its script has ${replies} ${replies === 1 ? "reply" : "replies"}`;
  return new Error(
    `The scripted model "${modelId}" did not expect request ${request.index + 1}: ${scripted}. ` +
      `The last message of the request was ${last}`,
  );
}

function shown(value: unknown): string {
  try {
    const json = JSON.stringify(value) ?? "absent";
    return json.length > 300 ? `${json.slice(0, 300)}…` : json;
  } catch {
    return "not printable"; // a cycle or a BigInt in a tool result
  }
}

function silence(): Promise<never> {
  return new Promise(() => {});
}

/** Rejects with the signal's reason as soon as it aborts, whatever the promise does. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

function timer(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return; // who waits is told by the signal; a timer must not keep the process up
    const stop = () => clearTimeout(running);
    const running = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

function isArray(script: Script): script is readonly ScriptedStep[] {
  return Array.isArray(script);
}
