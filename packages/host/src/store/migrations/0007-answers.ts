import type { Migration } from "./migration.ts";

/** What requests with an idempotency key were answered (X10), until they are forgotten; and where providers are asked. */
export const answers: Migration = {
  version: 7,
  tables: {
    answers: {
      columns: {
        id: "text",
        tenant: "text",
        digest: "text",
        claim: "text",
        claimed_until: "integer",
        status: "integer?",
        created_at: "integer",
        expires_at: "integer",
        body: "text?",
      },
      key: ["id"],
      indexes: [["tenant"], ["expires_at"]],
    },
    provider_addresses: {
      columns: { provider: "text", base_url: "text", updated_at: "integer" },
      key: ["provider"],
    },
  },
};
