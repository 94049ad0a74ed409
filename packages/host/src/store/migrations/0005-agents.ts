import type { Migration } from "./migration.ts";

const ONE_OF_A_NAME = 'CREATE UNIQUE INDEX "agents_tenant_name" ON "agents" ("tenant", "name")';

/** Agents that are made and edited at run time, and every version of each. */
export const agents: Migration = {
  version: 5,
  tables: {
    agents: {
      columns: {
        id: "text",
        tenant: "text",
        name: "text",
        version: "integer",
        digest: "text",
        created_at: "integer",
        updated_at: "integer",
        body: "text",
      },
      key: ["id"],
    },
    // They outlive their agent: a run's history can still be told when it is gone.
    agent_versions: {
      columns: {
        agent_id: "text",
        n: "integer",
        tenant: "text",
        digest: "text",
        created_at: "integer",
        body: "text",
      },
      key: ["agent_id", "n"],
    },
  },
  statements: {
    // Which stored agent a run is of; null where its agent is in code: only who has that code may take it up.
    sqlite: [ONE_OF_A_NAME, 'ALTER TABLE "runs" ADD COLUMN "agent_id" TEXT'],
    postgres: [ONE_OF_A_NAME, 'ALTER TABLE "runs" ADD COLUMN "agent_id" TEXT COLLATE "C"'],
  },
};
