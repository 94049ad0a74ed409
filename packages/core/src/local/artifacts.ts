import * as z from "zod";
import {
  type ArtifactDesk,
  type ArtifactRef,
  artifactId,
  type Content,
  type NewArtifact,
} from "../tools/artifact.ts";

/** An artifact as a conversation in JSON has it. */
export const storedArtifact = z.lazy(() =>
  z.object({
    id: z.string().min(1),
    media_type: z.string(),
    base64: z.string().refine(isBase64, "base64 expected"),
    sources: z.array(z.string()).default([]),
  }),
);
export type StoredArtifact = z.infer<typeof storedArtifact>;

/** Nothing but base64: a decoder leaves out what is not, and would say nothing. A pattern for all of it is slow where it is large. */
function isBase64(text: string): boolean {
  const padding = text.indexOf("=");
  const isPadded = padding === -1 || /^={1,2}$/.test(text.slice(padding, padding + 3));
  return text.length % 4 === 0 && isPadded && !/[^A-Za-z0-9+/=]/.test(text);
}

export interface KeptArtifact {
  readonly ref: ArtifactRef;
  readonly content: Uint8Array;
}

/** The artifacts of a conversation in memory. Bounded by nothing, and gone with the conversation. */
export class MemoryArtifacts implements ArtifactDesk {
  /** What `toJSON` makes of each, for whoever reads it. */
  static readonly stored = storedArtifact;
  readonly #kept = new Map<string, KeptArtifact>();

  constructor(kept: Iterable<KeptArtifact> = []) {
    for (const one of kept) this.#kept.set(one.ref.id, one);
  }

  put({ call_id, index, media_type, content, sources }: NewArtifact): ArtifactRef {
    const ref = refOf(artifactId(call_id, index), media_type, content, sources);
    this.#kept.set(ref.id, { ref, content: wholeOf(content, ref.bytes) });
    return ref;
  }

  find(id: string): ArtifactRef | undefined {
    return this.#kept.get(id)?.ref;
  }

  read(id: string, start: number, end: number): Uint8Array {
    const found = this.#kept.get(id);
    if (found === undefined) throw new Error(`the artifact ${id} is gone`);
    return found.content.subarray(start, end);
  }

  toJSON(): readonly StoredArtifact[] {
    return [...this].map(({ ref: { id, media_type, sources }, content }) => {
      const base64 = Buffer.from(content.buffer, content.byteOffset, content.length).toString("base64");
      return { id, media_type, base64, sources: [...sources] };
    });
  }

  static fromJSON(stored: readonly StoredArtifact[]): MemoryArtifacts {
    const read = stored.map(({ id, media_type, base64, sources }): KeptArtifact => {
      const content = new Uint8Array(Buffer.from(base64, "base64"));
      return { ref: refOf(id, media_type, [content], sources), content };
    });
    return new MemoryArtifacts(read);
  }

  /** All of them, for whoever keeps the conversation elsewhere. */
  [Symbol.iterator](): IterableIterator<KeptArtifact> {
    return this.#kept.values();
  }
}

export function refOf(
  id: string,
  media_type: string,
  content: Content,
  sources: readonly string[] = [],
): ArtifactRef {
  const hash = process.getBuiltinModule("node:crypto").createHash("sha256"); // loaded where it is needed, as in digest.ts
  let bytes = 0;
  for (const piece of content) {
    hash.update(piece);
    bytes += piece.length;
  }
  return { id, media_type, bytes, digest: hash.digest("hex"), sources };
}

/** All of a content in one; what is in one already is taken as it is. */
function wholeOf(content: Content, bytes: number): Uint8Array {
  if (Array.isArray(content) && content.length === 1 && content[0] instanceof Uint8Array) return content[0];
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const piece of content) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
