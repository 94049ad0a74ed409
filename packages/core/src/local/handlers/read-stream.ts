import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { Effect } from "../effect.ts";
import type { Model } from "../providers/adapt.ts";
import type { EngineParts } from "../run-context.ts";
import type { Watch } from "../watchdog.ts";
import type { Assembly } from "./assembly.ts";

export type StreamEnd =
  | { kind: "ended" }
  | { kind: "failed"; error: unknown }
  | { kind: "cancelled"; reason: string };

/** How long a stream may stay open after the answer has finished. */
const CLOSING_MS = 1000;
/** Parts taken in a row before everything else gets a turn: a stream that never waits would starve timers and cancels. */
const IN_A_ROW = 4096;

/**
 * Calls a model and reads its stream to the end. Answers at once when the effect is cancelled or the stream stays silent
 * for too long, whether or not the provider reacts to its abort signal. An answer that has finished is whole, however its
 * stream then ends.
 */
export function readStream(
  model: Model,
  options: LanguageModelV4CallOptions,
  assembly: Assembly,
  parts: EngineParts,
  effect: Effect,
): Promise<StreamEnd> {
  return new Promise((resolve) => new Reading(assembly, effect, resolve).start(model, options, parts));
}

const ENDED: StreamEnd = { kind: "ended" };

class Reading {
  readonly #assembly: Assembly;
  readonly #effect: Effect;
  readonly #resolve: (end: StreamEnd) => void;
  #over = false;
  #idleMs = 0;
  #watch: Watch | undefined;
  #reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart> | undefined;
  #iterator: AsyncIterator<LanguageModelV4StreamPart> | undefined;

  constructor(assembly: Assembly, effect: Effect, resolve: (end: StreamEnd) => void) {
    this.#assembly = assembly;
    this.#effect = effect;
    this.#resolve = resolve;
  }

  start(model: Model, options: LanguageModelV4CallOptions, { watchdog, modelIdleMs }: EngineParts): void {
    this.#effect.onCancel(this);
    if (this.#over) return;
    this.#idleMs = modelIdleMs;
    this.#watch = watchdog.watch(modelIdleMs, this);
    void this.#readAll(model, options);
  }

  async #readAll(model: Model, options: LanguageModelV4CallOptions): Promise<void> {
    try {
      const { stream } = await model.doStream(options);
      this.#take(stream);
      for (let taken = 1; ; taken++) {
        if (taken % IN_A_ROW === 0) await new Promise((resolve) => setImmediate(resolve));
        const { done, value } = await this.#next();
        if (done) this.#letGo();
        if (this.#over || done) break;
        this.#accept(value);
      }
      this.#finish(ENDED);
    } catch (error) {
      this.#fail(error);
    }
  }

  #accept(part: LanguageModelV4StreamPart): void {
    const assembly = this.#assembly;
    if (assembly.finish !== undefined) return; // said after the end, so not part of the answer
    this.#watch?.touch();
    assembly.accept(part);
    if (assembly.finish !== undefined) this.#watch?.bound(CLOSING_MS);
  }

  #take(stream: AsyncIterable<LanguageModelV4StreamPart>): void {
    if (stream instanceof ReadableStream) this.#reader = stream.getReader();
    else this.#iterator = stream[Symbol.asyncIterator]();
    if (this.#over) this.#release();
  }

  #next(): Promise<IteratorResult<LanguageModelV4StreamPart>> {
    // A reader's result is an iterator's result but for the type of `value` at the end.
    if (this.#reader) return this.#reader.read() as Promise<IteratorResult<LanguageModelV4StreamPart>>;
    return this.#iterator?.next() ?? Promise.resolve({ done: true, value: undefined });
  }

  cancelled(reason: string): void {
    this.#finish({ kind: "cancelled", reason });
  }

  expired(): void {
    this.#effect.abort("the model stayed silent for too long");
    this.#fail(silence(this.#idleMs));
  }

  #fail(error: unknown): void {
    this.#finish(this.#assembly.finish === undefined ? { kind: "failed", error } : ENDED);
  }

  #finish(end: StreamEnd): void {
    if (this.#over) return;
    this.#over = true;
    this.#watch?.stop();
    this.#effect.offCancel(this);
    if (this.#reader !== undefined || this.#iterator !== undefined) this.#release();
    this.#resolve(end);
  }

  /** Lets go of a stream that was not read to its end. */
  #release(): void {
    try {
      // Nobody waits for the provider to clean up, and whether it manages is not our affair.
      Promise.resolve(this.#reader ? this.#reader.cancel() : this.#iterator?.return?.()).catch(() => {});
    } catch {}
    this.#letGo();
  }

  #letGo(): void {
    this.#reader = undefined;
    this.#iterator = undefined;
  }
}

function silence(ms: number): DOMException {
  return new DOMException(`The model sent nothing for ${Math.round(ms / 1000)} s`, "TimeoutError");
}
