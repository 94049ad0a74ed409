import type { Migration } from "./migration.ts";

const STATEMENTS = [
  // Whoever makes a second one active loses, in whatever process.
  `CREATE UNIQUE INDEX "plans_one_active" ON "plans" ("tenant", "agent_id") WHERE "state" = 'active'`,
  'CREATE UNIQUE INDEX "plans_tenant_agent_version" ON "plans" ("tenant", "agent_id", "version")',
  'CREATE INDEX "plans_state" ON "plans" ("state")',
];

/** Plans that people manage (W2): what is to be done, every version of it, what came of each step, and who works on it. */
export const plans: Migration = {
  version: 10,
  tables: {
    plans: {
      columns: {
        id: "text",
        tenant: "text",
        agent_id: "text",
        version: "integer",
        state: "text",
        created_at: "integer",
        updated_at: "integer",
        body: "text",
      },
      key: ["id"],
    },
    plan_versions: {
      columns: {
        tenant: "text",
        agent_id: "text",
        n: "integer",
        plan_id: "text",
        created_at: "integer",
        body: "text",
      },
      key: ["tenant", "agent_id", "n"],
    },
    plan_steps: {
      columns: {
        plan_id: "text",
        step_id: "text",
        state: "text",
        attempt: "integer",
        run_id: "text?",
        conversation_id: "text?",
        updated_at: "integer",
        body: "text",
      },
      key: ["plan_id", "step_id"],
      indexes: [["state"], ["conversation_id"]],
    },
    plan_work: {
      columns: {
        tenant: "text",
        agent_id: "text",
        is_open: "integer",
        updated_at: "integer",
        body: "text",
      },
      key: ["tenant", "agent_id"],
      indexes: [["is_open"]],
    },
  },
  statements: { sqlite: STATEMENTS, postgres: STATEMENTS },
};
