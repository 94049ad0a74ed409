/** Something kept beside a conversation because it is too large for it, or no text. */
export interface ArtifactRef {
  readonly id: string;
  readonly media_type: string;
  readonly bytes: number;
  /** SHA-256 of the content, in hex. */
  readonly digest: string;
  /** The tools whose words are in it; none of what a user added. */
  readonly sources: readonly string[];
}

/**
 * What goes into an artifact, from its beginning whenever it is gone through. It may be large: pieces are made one by one, and
 * one is good until the next is asked for.
 */
export type Content = Iterable<Uint8Array>;

/** One on its way into the store. */
export interface NewArtifact {
  /** Which of its call's artifacts it is: with the call this makes its id, the same for every life of the call. */
  readonly index: number;
  readonly call_id: string;
  readonly media_type: string;
  /** Nobody writes to what it is made from any more. */
  readonly content: Content;
  readonly sources: readonly string[];
}

/** Reads the artifacts of one conversation. Those of others are not there. */
export interface ArtifactReader {
  find(id: string): ArtifactRef | undefined | Promise<ArtifactRef | undefined>;
  /** The bytes from `start` up to `end`, which is not above its size. Loads no more than the store makes necessary. */
  read(id: string, start: number, end: number): Uint8Array | Promise<Uint8Array>;
}

/** Where the artifacts of a conversation are: in memory, or in a store. They go away with the conversation. */
export interface ArtifactDesk extends ArtifactReader {
  /** Keeps one. The same one again is kept once; what an earlier life of the call left under its id is replaced. */
  put(artifact: NewArtifact): ArtifactRef | Promise<ArtifactRef>;
}

/** Artifact ids are structural, as the calls they come from: `run_….main.1.0` has `art_….main.1.0.0`. */
export function artifactId(callId: string, index: number | string): string {
  return `art_${callId.replace(/^run_/, "")}.${index}`;
}
