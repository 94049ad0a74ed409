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
  return new Promise((resolve) => {
    const reading = new Reading(assembly);
    const finish = (end: StreamEnd) => {
      if (reading.over) return;
      reading.over = true;
      reading.watch?.stop();
      effect.offCancel(cancel);
      reading.release();
      resolve(end);
    };
    const fail = (error: unknown) =>
      finish(assembly.finish === undefined ? { kind: "failed", error } : { kind: "ended" });
    const cancel = (reason: string) => finish({ kind: "cancelled", reason });
    effect.onCancel(cancel);
    if (reading.over) return;
    const watch = (ms: number) => {
      const before = reading.watch;
      reading.watch = parts.watchdog.watch(ms, () => {
        effect.abort("the model stayed silent for too long");
        fail(silence(ms));
      });
      before?.stop();
    };
    watch(parts.modelIdleMs);
    reading.start(model, options, () => watch(CLOSING_MS)).then(() => finish({ kind: "ended" }), fail);
  });
}

class Reading {
  over = false;
  watch: Watch | undefined;
  readonly #assembly: Assembly;
  #cancel: (() => unknown) | undefined;

  constructor(assembly: Assembly) {
    this.#assembly = assembly;
  }

  async start(model: Model, options: LanguageModelV4CallOptions, finished: () => void): Promise<void> {
    const { stream } = await model.doStream(options);
    const next = this.#reader(stream);
    const assembly = this.#assembly;
    for (let taken = 1; ; taken++) {
      if (taken % IN_A_ROW === 0) await new Promise((resolve) => setImmediate(resolve));
      const { done, value } = await next();
      if (done) this.#cancel = undefined;
      if (this.over || done) return;
      if (assembly.finish !== undefined) continue; // said after the end, so not part of the answer
      this.watch?.touch();
      assembly.accept(value);
      if (assembly.finish !== undefined) finished();
    }
  }

  /** Lets go of a stream that was not read to its end. */
  release(): void {
    if (this.#cancel === undefined) return;
    try {
      // Nobody waits for the provider to clean up, and whether it manages is not our affair.
      Promise.resolve(this.#cancel()).catch(() => {});
    } catch {}
  }

  #reader(
    stream: AsyncIterable<LanguageModelV4StreamPart>,
  ): () => Promise<IteratorResult<LanguageModelV4StreamPart>> {
    if (stream instanceof ReadableStream) {
      const reader = stream.getReader();
      this.#cancel = () => reader.cancel();
      if (this.over) this.release();
      // A reader's result is an iterator's result but for the type of `value` at the end.
      return () => reader.read() as Promise<IteratorResult<LanguageModelV4StreamPart>>;
    }
    const iterator = stream[Symbol.asyncIterator]();
    this.#cancel = () => iterator.return?.();
    if (this.over) this.release();
    return () => iterator.next();
  }
}

function silence(ms: number): DOMException {
  return new DOMException(`The model sent nothing for ${Math.round(ms / 1000)} s`, "TimeoutError");
}
