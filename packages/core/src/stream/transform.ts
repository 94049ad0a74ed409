import type { JsonObject } from "../schema/json.ts";

/** What a transformer gives on: text, and annotations such as citations that are stored with the message. */
export type Transformed = string | { readonly text: string; readonly annotations?: readonly JsonObject[] };

/** Sees a stream piece by piece. What it must see more of, it holds back and gives on later, at the latest on `flush`. */
export interface StreamTransformer {
  push(chunk: string): Transformed;
  flush(): Transformed;
}

/** A way to make transformers: a new one for each message, one for its text and one for its reasoning. */
export interface TransformerFactory {
  readonly name: string;
  create(kind: "text" | "reasoning"): StreamTransformer;
}

/** A transformer threw. The step fails closed, and nothing it might have removed is shown. */
export class TransformError extends Error {
  override readonly name = "TransformError";
  readonly hook: string;

  constructor(hook: string, cause: unknown) {
    super(
      `The stream transformer "${hook}" failed: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
    this.hook = hook;
  }
}

/** Transformers in order, each fed with what the one before gave on. */
export class TransformChain {
  readonly #links: readonly { name: string; transformer: StreamTransformer }[];
  readonly #annotate: (annotations: readonly JsonObject[]) => void;

  constructor(
    factories: readonly TransformerFactory[],
    kind: "text" | "reasoning",
    annotate: (annotations: readonly JsonObject[]) => void,
  ) {
    this.#links = factories.map(({ name, create }) => ({ name, transformer: create(kind) }));
    this.#annotate = annotate;
  }

  push(chunk: string): string {
    return this.#run(chunk, 0);
  }

  /** The stream is at its end: everything held back comes out, through all that follow. */
  flush(): string {
    let out = "";
    for (const [i, { name, transformer }] of this.#links.entries()) {
      const rest = this.#take(name, () => transformer.flush());
      out += this.#run(rest, i + 1);
    }
    return out;
  }

  #run(chunk: string, from: number): string {
    let text = chunk;
    for (let i = from; i < this.#links.length && text !== ""; i++) {
      const link = this.#links[i];
      if (link === undefined) break;
      const given = text;
      text = this.#take(link.name, () => link.transformer.push(given));
    }
    return text;
  }

  #take(name: string, step: () => Transformed): string {
    try {
      const given = step();
      if (typeof given === "string") return given;
      if (given.annotations) this.#annotate(given.annotations);
      return given.text;
    } catch (error) {
      throw new TransformError(name, error);
    }
  }
}
