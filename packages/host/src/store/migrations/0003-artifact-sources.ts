import type { Migration } from "./migration.ts";

/** The tools whose words are in an artifact, as a JSON list: what rails think of them holds for it too. */
export const artifactSources: Migration = {
  version: 3,
  statements: {
    sqlite: ['ALTER TABLE "artifacts" ADD COLUMN "sources" TEXT'],
    postgres: ['ALTER TABLE "artifacts" ADD COLUMN "sources" TEXT COLLATE "C"'],
  },
};
