import type { Migration } from "./migration.ts";

const ONE_OF_A_NAME = 'CREATE UNIQUE INDEX "schedules_tenant_name" ON "schedules" ("tenant", "name")';
// The same signed words are one delivery, whatever id they come with.
const ONE_OF_A_PROOF =
  'CREATE UNIQUE INDEX "schedule_firings_proof" ON "schedule_firings" ("schedule_id", "proof")';

/** What starts agents, plans and workflows by the clock or by a webhook, and each time it did. */
export const schedules: Migration = {
  version: 11,
  tables: {
    schedules: {
      columns: {
        id: "text",
        tenant: "text",
        name: "text",
        version: "integer",
        enabled: "integer",
        next_at: "integer?",
        created_at: "integer",
        updated_at: "integer",
        body: "text",
      },
      key: ["id"],
      indexes: [["enabled", "next_at"]],
    },
    // A firing is written before its run is started: whoever finds one without a run starts it.
    schedule_firings: {
      columns: {
        schedule_id: "text",
        key: "text",
        tenant: "text",
        scheduled_for: "integer",
        state: "text",
        run_id: "text?",
        proof: "text?",
        created_at: "integer",
        body: "text",
      },
      key: ["schedule_id", "key"],
      indexes: [
        ["schedule_id", "scheduled_for"],
        ["state", "created_at"],
      ],
    },
  },
  statements: { sqlite: [ONE_OF_A_NAME, ONE_OF_A_PROOF], postgres: [ONE_OF_A_NAME, ONE_OF_A_PROOF] },
};
