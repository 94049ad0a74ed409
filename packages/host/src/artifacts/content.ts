import { sql } from "kysely";
import type { NewArtifact } from "trackside/engine";
import { type Builder, type Operation, rows } from "../store/store.ts";

/**
 * Content above this is kept in pieces of this size, beside its row: databases copy a value whole, several times, when it is
 * written and whenever some of it is read.
 */
export const PIECE_BYTES = 1 << 18;
/** Read at once. */
const BATCH = 8;

const NOTHING = new Uint8Array();

type Content = NewArtifact["content"];

/** What of a content is in its own row. */
export function inRow(content: Content, bytes: number): Uint8Array {
  if (bytes > PIECE_BYTES) return NOTHING;
  const [only = NOTHING] = inPieces(content);
  return only;
}

/** Writes what is not in its own row, in place of what was there. */
export function* writePieces(
  db: Builder,
  artifactId: string,
  content: Content,
  bytes: number,
): Operation<void> {
  yield* rows(db.deleteFrom("artifact_pieces").where("artifact_id", "=", artifactId));
  if (bytes <= PIECE_BYTES) return;
  let n = 0;
  for (const piece of inPieces(content)) {
    yield* rows(db.insertInto("artifact_pieces").values({ artifact_id: artifactId, n, content: piece }));
    n += 1;
  }
}

/** A content in pieces of the same size. All of them are made in the same place: each is written before the next. */
function* inPieces(content: Content): Generator<Uint8Array> {
  const piece = new Uint8Array(PIECE_BYTES);
  let at = 0;
  for (const given of content) {
    for (let from = 0; from < given.length; ) {
      const part = given.subarray(from, from + PIECE_BYTES - at);
      piece.set(part, at);
      from += part.length;
      at += part.length;
      if (at < PIECE_BYTES) continue;
      yield piece;
      at = 0;
    }
  }
  if (at > 0) yield piece.subarray(0, at);
}

/** The bytes of an artifact from `start` up to `end`; undefined when there is none. Whose it is has been looked at. */
export function* readContent(
  db: Builder,
  artifactId: string,
  start: number,
  end: number,
): Operation<Uint8Array | undefined> {
  const size = end - start;
  // Both databases have `substr` for bytes, and count from one.
  const [row] = yield* rows(
    db
      .selectFrom("artifacts")
      .select([
        "bytes",
        sql<number>`length(content)`.as("here"),
        sql<Uint8Array | null>`substr(content, ${sql.lit(start + 1)}, ${sql.lit(size)})`.as("content"),
      ])
      .where("id", "=", artifactId),
  );
  if (row === undefined) return undefined;
  if (row.here === row.bytes) return row.content ?? NOTHING; // SQLite has no part of what is empty
  const read = new Uint8Array(size);
  const last = Math.ceil(end / PIECE_BYTES);
  for (let n = Math.floor(start / PIECE_BYTES); n < last; n += BATCH) {
    const pieces = yield* rows(
      db
        .selectFrom("artifact_pieces")
        .select(["n", "content"])
        .where("artifact_id", "=", artifactId)
        .where("n", ">=", n)
        .where("n", "<", Math.min(last, n + BATCH)),
    );
    for (const piece of pieces) {
      const at = piece.n * PIECE_BYTES;
      const wanted = piece.content.subarray(Math.max(0, start - at), Math.max(0, end - at));
      read.set(wanted, Math.max(0, at - start));
    }
  }
  return read;
}

/** Erases what the artifacts of a conversation have beside their rows; the rows are there until after. */
export function* erasePieces(db: Builder, conversationId: string): Operation<void> {
  yield* rows(
    db
      .deleteFrom("artifact_pieces")
      .where("artifact_id", "in", (of) =>
        of.selectFrom("artifacts").select("id").where("conversation_id", "=", conversationId),
      ),
  );
}
