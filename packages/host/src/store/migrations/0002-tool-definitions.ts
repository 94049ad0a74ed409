import type { Migration } from "./migration.ts";

const BY_PARENT =
  'CREATE INDEX "runs_parent_run_id" ON "runs" ("parent_run_id") WHERE "parent_run_id" IS NOT NULL';

/** Definitions of server tools that somebody approved, and the way from a run to its sub-agents. */
export const toolDefinitions: Migration = {
  version: 2,
  tables: {
    tool_definitions: {
      columns: { key: "text", digest: "text", updated_at: "integer" },
      key: ["key"],
    },
  },
  statements: { sqlite: [BY_PARENT], postgres: [BY_PARENT] },
};
