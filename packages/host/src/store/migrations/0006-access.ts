import type { Migration } from "./migration.ts";

const ONE_NAME = 'CREATE UNIQUE INDEX "users_tenant_name_key" ON "users" ("tenant", "name_key")';

/** Who may do what: users, and what they show to be let in. Of secrets there are only digests. */
export const access: Migration = {
  version: 6,
  tables: {
    users: {
      columns: {
        id: "text",
        tenant: "text",
        name_key: "text",
        role: "text",
        created_at: "integer",
        updated_at: "integer",
        disabled_at: "integer?",
        last_seen_at: "integer?",
        body: "text",
      },
      key: ["id"],
      indexes: [["role", "disabled_at"]],
    },
    sessions: {
      columns: {
        digest: "text",
        id: "text",
        tenant: "text",
        user_id: "text",
        created_at: "integer",
        seen_at: "integer",
        ends_at: "integer",
        expires_at: "integer",
      },
      key: ["digest"],
      indexes: [["user_id"], ["expires_at"]],
    },
    api_tokens: {
      columns: {
        digest: "text",
        id: "text",
        tenant: "text",
        user_id: "text",
        role: "text",
        created_at: "integer",
        expires_at: "integer?",
        last_used_at: "integer?",
        revoked_at: "integer?",
        body: "text",
      },
      key: ["digest"],
      indexes: [["tenant", "created_at"], ["user_id"]],
    },
    access_links: {
      columns: {
        digest: "text",
        id: "text",
        tenant: "text",
        purpose: "text",
        user_id: "text?",
        created_at: "integer",
        expires_at: "integer",
      },
      key: ["digest"],
      indexes: [["user_id"], ["expires_at"]],
    },
    sign_in_attempts: {
      columns: { key: "text", failures: "integer", locked_until: "integer", expires_at: "integer" },
      key: ["key"],
      indexes: [["expires_at"]],
    },
    access_locks: { columns: { key: "text", at: "integer" }, key: ["key"] },
  },
  statements: { sqlite: [ONE_NAME], postgres: [ONE_NAME] },
};
