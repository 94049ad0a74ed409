import type { Migration } from "./migration.ts";

/** The tools whose words are in an artifact, as a JSON list: what rails think of them holds for it too. */
export const artifactSources: Migration = {
  version: 3,
  // Large contents, in pieces: a database copies a value whole whenever it writes or reads some of it.
  tables: {
    artifact_pieces: {
      columns: { artifact_id: "text", n: "integer", content: "bytes" },
      key: ["artifact_id", "n"],
    },
  },
  statements: {
    sqlite: ['ALTER TABLE "artifacts" ADD COLUMN "sources" TEXT'],
    postgres: ['ALTER TABLE "artifacts" ADD COLUMN "sources" TEXT COLLATE "C"'],
  },
};
