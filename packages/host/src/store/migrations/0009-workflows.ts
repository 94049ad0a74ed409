import type { Migration } from "./migration.ts";

/** Workflows that are made and edited at run time, and every version of each (W4). */
export const workflows: Migration = {
  version: 9,
  tables: {
    workflows: {
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
    // They outlive their workflow, as an agent's do.
    workflow_versions: {
      columns: {
        workflow_id: "text",
        n: "integer",
        tenant: "text",
        digest: "text",
        created_at: "integer",
        body: "text",
      },
      key: ["workflow_id", "n"],
    },
  },
  statements: {
    sqlite: indexes(),
    postgres: indexes(),
  },
};

function indexes(): readonly string[] {
  return [
    'CREATE UNIQUE INDEX "workflows_tenant_name" ON "workflows" ("tenant", "name")',
    // Of workflows only: runs of agents, which are many more, pay nothing for it.
    `CREATE INDEX "runs_of_workflows" ON "runs" ("tenant", "agent", "id") WHERE "kind" = 'workflow'`,
  ];
}
