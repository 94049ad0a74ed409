import { sql } from "kysely";
import { type Builder, type Operation, rows } from "../store/store.ts";

/**
 * Content above this is kept in pieces of this size, beside its row: databases copy a value whole, several times, when it is
 * written and whenever some of it is read.
 */
export const PIECE_BYTES = 1 << 18;
/** Read at once. */
const BATCH = 8;

const NOTHING = new Uint8Array();

/** What of a content is in its own row. */
export function inRow(content: Uint8Array): Uint8Array {
  return content.length > PIECE_BYTES ? NOTHING : content;
}

/** Writes what is not in its own row, in place of what was there. */
export function* writePieces(db: Builder, artifactId: string, content: Uint8Array): Operation<void> {
  yield* rows(db.deleteFrom("artifact_pieces").where("artifact_id", "=", artifactId));
  if (content.length <= PIECE_BYTES) return;
  for (let n = 0; n * PIECE_BYTES < content.length; n++) {
    const piece = content.subarray(n * PIECE_BYTES, (n + 1) * PIECE_BYTES);
    yield* rows(db.insertInto("artifact_pieces").values({ artifact_id: artifactId, n, content: piece }));
  }
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
        sql<Uint8Array>`substr(content, ${sql.lit(start + 1)}, ${sql.lit(size)})`.as("content"),
      ])
      .where("id", "=", artifactId),
  );
  if (row === undefined) return undefined;
  if (row.here === row.bytes) return row.content;
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
