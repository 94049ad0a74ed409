import type { Migration } from "./migration.ts";

/** Who drives a run: null for the processes that share this store, else the name of a distributed engine (X9). */
export const runEngine: Migration = {
  version: 4,
  // Which agents the workers of such an engine have, until when that holds.
  tables: {
    engine_workers: {
      columns: { engine: "text", id: "text", expires_at: "integer", body: "text" },
      key: ["engine", "id"],
    },
    // Who has what calls of one tree may not use at the same time.
    resources: {
      columns: { tree: "text", key: "text", call: "text", expires_at: "integer" },
      key: ["tree", "key"],
    },
  },
  statements: {
    sqlite: ['ALTER TABLE "runs" ADD COLUMN "engine" TEXT'],
    postgres: ['ALTER TABLE "runs" ADD COLUMN "engine" TEXT COLLATE "C"'],
  },
};
