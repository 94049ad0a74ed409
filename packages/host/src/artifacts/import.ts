import type { ArtifactRef, MemoryArtifacts } from "trackside/engine";
import { type Builder, type Operation, rows } from "../store/store.ts";
import { inRow, writePieces } from "./content.ts";

/** The conversation that artifacts come into. */
export interface ImportedInto {
  readonly tenant: string;
  readonly conversation_id: string;
  readonly at: number;
}

/** An artifact and all that is in it. */
export interface KeptArtifact {
  readonly ref: ArtifactRef;
  readonly content: Uint8Array;
}

/** Artifacts of a conversation that was in memory so far, into the store. */
export function* importArtifacts(
  db: Builder,
  into: ImportedInto,
  artifacts: MemoryArtifacts,
): Operation<void> {
  for (const kept of artifacts) yield* importArtifact(db, into, kept);
}

export function* importArtifact(
  db: Builder,
  { tenant, conversation_id, at: created_at }: ImportedInto,
  { ref: { sources, ...ref }, content }: KeptArtifact,
): Operation<void> {
  const row = {
    ...ref,
    tenant,
    conversation_id,
    run_id: null,
    created_at,
    content: inRow([content], ref.bytes),
  };
  const added = yield* rows(
    db
      .insertInto("artifacts")
      .values({ ...row, sources: JSON.stringify(sources) })
      .onConflict((conflict) => conflict.column("id").doNothing()) // another conversation has it
      .returning("id"),
  );
  if (added.length > 0) yield* writePieces(db, ref.id, [content], ref.bytes);
}
