import { type ToolFile, TracksideError } from "trackside";
import { artifactId, newId, refOf } from "trackside/engine";
import type { DurableEngine } from "../journal/durable-engine.ts";
import { DEFAULT_TENANT } from "../runs/runs.ts";
import { rows } from "../store/store.ts";
import { inRow, readContent, writePieces } from "./content.ts";
import { HELD, READABLE } from "./desk.ts";

export interface ArtifactRecord {
  readonly id: string;
  readonly conversation_id: string;
  readonly run_id: string | null;
  readonly media_type: string;
  readonly bytes: number;
  readonly digest: string;
  readonly created_at: number;
}

const COLUMNS = ["id", "conversation_id", "run_id", "media_type", "bytes", "digest", "created_at"] as const;

/** Large results and files of conversations, which they go away with (T4). */
export class Artifacts {
  readonly #engine: DurableEngine;

  constructor(engine: DurableEngine) {
    this.#engine = engine;
  }

  async list(
    filter: {
      readonly tenant?: string;
      readonly conversation?: string;
      readonly run?: string;
      readonly limit?: number;
    } = {},
  ): Promise<readonly ArtifactRecord[]> {
    await this.#engine.open();
    return this.#engine.store.read(function* (db) {
      let query = db
        .selectFrom("artifacts")
        .select(COLUMNS)
        .where("tenant", "=", filter.tenant ?? DEFAULT_TENANT)
        .where("id", "like", READABLE)
        .where("media_type", "!=", HELD)
        .orderBy("created_at", "desc")
        .limit(filter.limit ?? 100);
      if (filter.conversation !== undefined) query = query.where("conversation_id", "=", filter.conversation);
      if (filter.run !== undefined) query = query.where("run_id", "=", filter.run);
      return yield* rows(query);
    });
  }

  /**
   * Keeps a file with a conversation, for messages to attach:
   * `{ type: "file", media_type, source: { kind: "artifact", artifact_id } }`.
   */
  async add(
    conversation: string,
    { mediaType, data }: ToolFile,
    { tenant = DEFAULT_TENANT } = {},
  ): Promise<ArtifactRecord> {
    await this.#engine.open();
    const { store, clock } = this.#engine;
    const { sources: _, ...ref } = refOf(artifactId(newId("file"), 0), mediaType, [data]); // its user's, no tool's
    const created_at = clock.now();
    return store.write(function* (db) {
      const [known] = yield* rows(
        db
          .selectFrom("branches")
          .select("conversation_id")
          .where("id", "=", conversation)
          .where("tenant", "=", tenant),
      );
      if (known === undefined)
        throw new TracksideError("not_found", `There is no conversation ${conversation}.`);
      const record = { ...ref, conversation_id: known.conversation_id, run_id: null, created_at };
      const content = inRow([data], ref.bytes);
      yield* rows(db.insertInto("artifacts").values({ ...record, tenant, content, sources: null }));
      yield* writePieces(db, ref.id, [data], ref.bytes);
      return record;
    });
  }

  async get(
    id: string,
    { tenant = DEFAULT_TENANT } = {},
  ): Promise<ArtifactRecord & { readonly content: Uint8Array }> {
    await this.#engine.open();
    const found = await this.#engine.store.read(function* (db) {
      const [record] = yield* rows(
        db
          .selectFrom("artifacts")
          .select(COLUMNS)
          .where("id", "=", id)
          .where("tenant", "=", tenant)
          .where("id", "like", READABLE)
          .where("media_type", "!=", HELD),
      );
      const content = record && (yield* readContent(db, id, 0, record.bytes));
      return content && { ...record, content };
    });
    if (found === undefined) throw new TracksideError("not_found", `There is no artifact ${id}.`);
    return found;
  }
}
