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

/**
 * Calls a model and reads its stream to the end. Answers at once when the effect is cancelled or the stream stays silent
 * for too long, whether or not the provider reacts to its abort signal.
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
      reading.release(end.kind !== "ended");
      resolve(end);
    };
    const cancel = (reason: string) => finish({ kind: "cancelled", reason });
    effect.onCancel(cancel);
    if (reading.over) return;
    reading.watch = parts.watchdog.watch(parts.modelIdleMs, () => {
      effect.abort("the model stayed silent for too long");
      finish({ kind: "failed", error: silence(parts.modelIdleMs) });
    });
    reading.start(model, options).then(
      () => finish({ kind: "ended" }),
      (error: unknown) => finish({ kind: "failed", error }),
    );
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

  async start(model: Model, options: LanguageModelV4CallOptions): Promise<void> {
    const { stream } = await model.doStream(options);
    const next = this.#reader(stream);
    const assembly = this.#assembly;
    for (;;) {
      const { done, value } = await next();
      if (this.over || done) return;
      this.watch?.touch();
      assembly.accept(value);
    }
  }

  /** Lets go of the stream; `early` when it was not read to its end. */
  release(early: boolean): void {
    if (!early) return;
    try {
      // Nobody waits for the provider to clean up, and whether it manages is not our affair.
      Promise.resolve(this.#cancel?.()).catch(() => {});
    } catch {}
  }

  #reader(
    stream: AsyncIterable<LanguageModelV4StreamPart>,
  ): () => Promise<IteratorResult<LanguageModelV4StreamPart>> {
    if (stream instanceof ReadableStream) {
      const reader = stream.getReader();
      this.#cancel = () => reader.cancel();
      if (this.over) this.release(true);
      // A reader's result is an iterator's result but for the type of `value` at the end.
      return () => reader.read() as Promise<IteratorResult<LanguageModelV4StreamPart>>;
    }
    const iterator = stream[Symbol.asyncIterator]();
    this.#cancel = () => iterator.return?.();
    if (this.over) this.release(true);
    return () => iterator.next();
  }
}

function silence(ms: number): DOMException {
  return new DOMException(`The model sent nothing for ${Math.round(ms / 1000)} s`, "TimeoutError");
}
