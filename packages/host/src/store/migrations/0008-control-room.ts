import type { Migration } from "./migration.ts";

/** What the control room looks for: changes of the inbox, and what became of runs, in numbers. */
export const controlRoom: Migration = {
  version: 8,
  tables: {
    run_stats: {
      columns: {
        run_id: "text",
        tenant: "text",
        agent: "text",
        status: "text",
        is_root: "integer",
        created_at: "integer",
        ended_at: "integer",
        input_tokens: "integer",
        output_tokens: "integer",
        body: "text",
      },
      key: ["run_id"],
      indexes: [
        ["tenant", "created_at"],
        ["tenant", "ended_at"],
      ],
    },
  },
  statements: {
    sqlite: indexes(),
    postgres: indexes(),
  },
};

function indexes(): readonly string[] {
  return [
    'CREATE INDEX "approvals_tenant_requested_at" ON "approvals" ("tenant", "requested_at")',
    'CREATE INDEX "approvals_tenant_decided_at" ON "approvals" ("tenant", "decided_at")',
    'CREATE INDEX "runs_tenant_ended_at" ON "runs" ("tenant", "ended_at")',
  ];
}
