import type { Migration } from "./migration.ts";

/** Who drives a run: null for the processes that share this store, else the name of a distributed engine (X9). */
export const runEngine: Migration = {
  version: 4,
  tables: {},
  statements: {
    sqlite: ['ALTER TABLE "runs" ADD COLUMN "engine" TEXT'],
    postgres: ['ALTER TABLE "runs" ADD COLUMN "engine" TEXT COLLATE "C"'],
  },
};
