import type { Migration } from "./migration.ts";

/** Everything a durable run needs. */
export const tables: Migration = {
  version: 1,
  tables: {
    processes: {
      columns: {
        id: "text",
        host: "text",
        machine: "text",
        pid: "integer",
        started: "text",
        expires_at: "integer",
        created_at: "integer",
      },
      key: ["id"],
    },
    runs: {
      columns: {
        id: "text",
        tenant: "text",
        agent: "text",
        kind: "text",
        status: "text",
        conversation_id: "text",
        branch_id: "text",
        turn_ref: "text",
        root_run_id: "text",
        parent_run_id: "text?",
        retried_from: "text?",
        definition_digest: "text",
        owner: "text?",
        fence: "integer",
        cancel_reason: "text?",
        created_at: "integer",
        updated_at: "integer",
        ended_at: "integer?",
        body: "text",
      },
      key: ["id"],
      indexes: [
        ["status", "owner"],
        ["tenant", "created_at"],
        ["branch_id", "created_at"],
        ["conversation_id"],
      ],
    },
    definitions: { columns: { digest: "text", body: "text" }, key: ["digest"] },
    // Not clustered: a thousand runs that each add a row would write a thousand pages, and so add them to the same few
    // (4 to 7 times faster, measured). No index by seq: it costs a quarter of an append, and seq grows with ord, so a
    // reader that has a seq looks at the run's rows once and goes on by ord.
    commits: {
      columns: { run_id: "text", ord: "integer", seq: "integer", body: "text" },
      key: ["run_id", "ord"],
    },
    outcomes: { columns: { run_id: "text", key: "text", body: "text" }, key: ["run_id", "key"] },
    approvals: {
      columns: {
        id: "text",
        tenant: "text",
        run_id: "text",
        kind: "text",
        state: "text",
        tool: "text?",
        requested_at: "integer",
        deadline: "integer?",
        decided_at: "integer?",
        body: "text",
      },
      key: ["id"],
      indexes: [["tenant", "state", "requested_at"], ["run_id"], ["state", "deadline"]],
    },
    approval_rules: {
      columns: {
        id: "text",
        tenant: "text",
        tool: "text",
        created_at: "integer",
        until: "integer?",
        revoked_at: "integer?",
        body: "text",
      },
      key: ["id"],
      indexes: [["tenant", "tool"]],
    },
    conversations: {
      columns: {
        id: "text",
        tenant: "text",
        agent: "text?",
        created_at: "integer",
        updated_at: "integer",
        body: "text",
      },
      key: ["id"],
      indexes: [["tenant", "updated_at"]],
    },
    branches: {
      columns: {
        id: "text",
        conversation_id: "text",
        tenant: "text",
        parent_id: "text?",
        shared: "integer",
        length: "integer",
        active_run_id: "text?",
        created_at: "integer",
        body: "text",
      },
      key: ["id"],
      indexes: [["conversation_id"]],
    },
    inbox: {
      columns: {
        id: "text",
        tenant: "text",
        branch_id: "text",
        run_id: "text",
        state: "text",
        created_at: "integer",
        body: "text",
      },
      key: ["id"],
      indexes: [["run_id", "state"], ["branch_id"]],
    },
    requests: {
      columns: {
        tenant: "text",
        request_id: "text",
        operation: "text",
        record_id: "text",
        digest: "text",
        created_at: "integer",
      },
      key: ["tenant", "operation", "request_id"],
      clustered: true,
    },
    reservations: {
      columns: {
        root_run_id: "text",
        key: "text",
        counter: "text",
        n: "integer",
        granted: "integer",
        used: "integer",
        max: "integer",
      },
      key: ["root_run_id", "key"],
      clustered: true,
    },
    deferred: {
      columns: {
        id: "text",
        tenant: "text",
        run_id: "text",
        state: "text",
        owner: "text?",
        attempts: "integer",
        created_at: "integer",
        body: "text",
      },
      key: ["id"],
      indexes: [["state"], ["run_id"]],
    },
    artifacts: {
      columns: {
        id: "text",
        tenant: "text",
        conversation_id: "text",
        run_id: "text?",
        media_type: "text",
        bytes: "integer",
        digest: "text",
        created_at: "integer",
        content: "bytes",
      },
      key: ["id"],
      indexes: [["conversation_id"], ["run_id"]],
    },
    audit: {
      columns: {
        tenant: "text",
        n: "integer",
        at: "integer",
        action: "text",
        body: "text",
        previous: "text",
        hash: "text",
      },
      key: ["tenant", "n"],
      clustered: true,
    },
    secrets: {
      columns: {
        tenant: "text",
        name: "text",
        key_id: "text",
        nonce: "bytes",
        content: "bytes",
        updated_at: "integer",
      },
      key: ["tenant", "name"],
    },
    webhooks: {
      columns: {
        id: "text",
        tenant: "text",
        state: "text",
        attempts: "integer",
        next_at: "integer",
        created_at: "integer",
        body: "text",
      },
      key: ["id"],
      indexes: [["state", "next_at"]],
    },
    wakes: { columns: { n: "counter", run_id: "text", what: "text", at: "integer" }, key: ["n"] },
  },
  statements: {
    // Marks that transactions leave, to find out what became of them (postgres-marks.ts).
    // Notices go to everybody who listens once the transaction has committed; the name lets a store ignore its own.
    postgres: [
      `CREATE TABLE trackside_marks (
         slot TEXT COLLATE "C" NOT NULL PRIMARY KEY,
         mark TEXT NOT NULL,
         at BIGINT NOT NULL
       )`,
      `CREATE FUNCTION trackside_woken() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN
         PERFORM pg_notify('trackside_wakes', current_setting('application_name'));
         RETURN NULL;
       END $$`,
      `CREATE TRIGGER trackside_woken AFTER INSERT ON "wakes"
       FOR EACH STATEMENT EXECUTE FUNCTION trackside_woken()`,
    ],
  },
};
