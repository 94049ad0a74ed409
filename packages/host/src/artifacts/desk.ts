import { type ArtifactDesk, type ArtifactRef, artifactId, type NewArtifact, refOf } from "trackside/engine";
import * as z from "zod";
import { Fenced } from "../journal/fenced.ts";
import { holdsFence } from "../store/fence.ts";
import { type Builder, type Operation, rows, type Store } from "../store/store.ts";
import { inRow, readContent, writePieces } from "./content.ts";

export interface DeskInit {
  readonly store: Store;
  readonly tenant: string;
  readonly conversationId: string;
  readonly runId: string;
  readonly fence: number;
  readonly now: () => number;
}

/** Content on its way into the store. */
export interface HeldContent {
  readonly id: string;
  readonly content: NewArtifact["content"];
}

/** What rails have not passed yet: it is there for another life of its call and for nobody else (X3). */
export const HELD = "application/x-trackside-held";

/** The artifacts that are somebody's to read have a dot in their ids. Those without are messages too large for a row. */
export const READABLE = "%.%";

/**
 * The artifacts of a run's conversation, in the store. One is written before anything speaks of it; should its run be gone
 * by then, or its call be made again, the next life writes the same row.
 */
export class StoredArtifacts implements ArtifactDesk {
  readonly #init: DeskInit;
  /** What is held, by digest: what rails leave as it was is not written again. */
  readonly #held = new Map<string, string[]>();

  constructor(init: DeskInit) {
    this.#init = init;
  }

  async put({ call_id, index, media_type, content, sources }: NewArtifact): Promise<ArtifactRef> {
    const made = refOf(artifactId(call_id, index), media_type, content, sources);
    const held = this.#held.get(made.digest)?.shift();
    const ref = held === undefined ? made : { ...made, id: held };
    await this.#fenced((db) => (held === undefined ? this.#write(db, ref, content) : publish(db, ref)));
    return ref;
  }

  async find(id: string): Promise<ArtifactRef | undefined> {
    const { store, tenant, conversationId } = this.#init;
    const [found] = await store.read((db) =>
      rows(
        db
          .selectFrom("artifacts")
          .select(["id", "media_type", "bytes", "digest", "sources"])
          .where("id", "=", id)
          .where("id", "like", READABLE)
          .where("tenant", "=", tenant)
          .where("conversation_id", "=", conversationId)
          .where("media_type", "!=", HELD),
      ),
    );
    return found && { ...found, sources: readSources(found.sources) };
  }

  async read(id: string, start: number, end: number): Promise<Uint8Array> {
    const { store, tenant, conversationId } = this.#init;
    const content = await store.read(function* (db) {
      const [found] = yield* rows(
        db
          .selectFrom("artifacts")
          .select("id")
          .where("id", "=", id)
          .where("tenant", "=", tenant)
          .where("conversation_id", "=", conversationId),
      );
      return found && (yield* readContent(db, id, start, end));
    });
    if (content === undefined) throw new Error(`the artifact ${id} is gone`);
    return content;
  }

  /** Keeps content that rails have yet to pass, in the transaction of whoever speaks of it. */
  *hold(db: Builder, { id, content }: HeldContent): Operation<void> {
    const ref = refOf(id, HELD, content); // its sources are told when it is shown
    yield* this.#write(db, ref, content);
    this.#remember(ref);
  }

  /** What an earlier life of a call held. */
  async held(ids: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
    const { store, runId } = this.#init;
    const found = await store.read(function* (db) {
      const refs = yield* rows(
        db
          .selectFrom("artifacts")
          .select(["id", "digest", "bytes"])
          .where("id", "in", [...ids])
          .where("run_id", "=", runId),
      );
      const read: { readonly id: string; readonly digest: string; readonly content: Uint8Array }[] = [];
      for (const { id, digest, bytes } of refs) {
        const content = yield* readContent(db, id, 0, bytes);
        if (content !== undefined) read.push({ id, digest, content });
      }
      return read;
    });
    for (const one of found) this.#remember(one);
    return new Map(found.map(({ id, content }) => [id, content]));
  }

  #remember({ id, digest }: { id: string; digest: string }): void {
    const ids = this.#held.get(digest) ?? [];
    if (!ids.includes(id)) this.#held.set(digest, [...ids, id]);
  }

  async #fenced(work: (db: Builder) => Operation<void>): Promise<void> {
    const { store, runId, fence } = this.#init;
    const landed = await store.write(function* (db) {
      if (!(yield* holdsFence(db, runId, fence))) return false;
      yield* work(db);
      return true;
    });
    if (!landed) throw new Fenced(runId);
  }

  *#write(db: Builder, { sources, ...ref }: ArtifactRef, content: NewArtifact["content"]): Operation<void> {
    const { tenant, conversationId, runId, now } = this.#init;
    const [known] = yield* rows(
      db.selectFrom("artifacts").select(["digest", "media_type"]).where("id", "=", ref.id),
    );
    if (known?.digest === ref.digest && known.media_type === ref.media_type) return;
    const { id, bytes } = ref;
    const kept = { content: inRow(content, bytes), sources: JSON.stringify(sources) };
    const written = { ...ref, ...kept, created_at: now() };
    yield* writePieces(db, id, content, bytes);
    yield* rows(
      db
        .insertInto("artifacts")
        .values({ ...written, tenant, conversation_id: conversationId, run_id: runId })
        .onConflict((conflict) => conflict.column("id").doUpdateSet(written)),
    );
  }
}

/** Rails have left it as it was: from now on it can be read. */
function* publish(db: Builder, { id, media_type, sources }: ArtifactRef): Operation<void> {
  const shown = { media_type, sources: JSON.stringify(sources) };
  yield* rows(db.updateTable("artifacts").set(shown).where("id", "=", id));
}

const sourceList = z.array(z.string());

/** The tools whose words are in an artifact, as its row has them. */
export function readSources(stored: string | null): readonly string[] {
  return stored === null ? [] : sourceList.parse(JSON.parse(stored));
}
