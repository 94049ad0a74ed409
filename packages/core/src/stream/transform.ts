import { isJsonObject, type JsonObject } from "../schema/json.ts";

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
  readonly #links: readonly Link[];
  readonly #annotate: (annotations: readonly JsonObject[]) => void;

  constructor(
    factories: readonly TransformerFactory[],
    kind: "text" | "reasoning",
    annotate: (annotations: readonly JsonObject[]) => void,
  ) {
    this.#links = factories.map((factory) => new Link(factory, kind));
    this.#annotate = annotate;
  }

  push(chunk: string): string {
    return this.#run(chunk, 0);
  }

  /** The stream is at its end: everything held back comes out, through all that follow. */
  flush(): string {
    let out = "";
    for (const [i, link] of this.#links.entries()) {
      const rest = this.#take(link, () => link.transformer.flush());
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
      text = this.#take(link, () => link.transformer.push(given));
    }
    return text;
  }

  #take({ name }: Link, step: () => Transformed): string {
    try {
      const given = step();
      if (typeof given === "string") return given;
      if (typeof given?.text !== "string")
        throw new TypeError("push and flush return text or { text, annotations }");
      const { text, annotations } = given;
      if (annotations !== undefined) {
        if (!Array.isArray(annotations) || !annotations.every(isJsonObject))
          throw new TypeError("annotations is a list of JSON objects");
        this.#annotate(annotations);
      }
      return text;
    } catch (error) {
      throw new TransformError(name, error);
    }
  }
}

/** A transformer, made when it is first needed: one that cannot be made fails as one that throws. */
class Link {
  readonly name: string;
  readonly #factory: TransformerFactory;
  readonly #kind: "text" | "reasoning";
  #made: StreamTransformer | undefined;

  constructor(factory: TransformerFactory, kind: "text" | "reasoning") {
    this.name = factory.name;
    this.#factory = factory;
    this.#kind = kind;
  }

  get transformer(): StreamTransformer {
    this.#made ??= this.#factory.create(this.#kind);
    return this.#made;
  }
}
