import type { JsonObject } from "trackside";
import * as z from "zod";
import { hot } from "../hot.ts";
import { versioned } from "../store/rows/versioned.ts";
import { type Builder, type Operation, rows } from "../store/store.ts";
import type { AgentsTable, AgentVersionsTable } from "../store/tables.ts";

const definition = z.custom<JsonObject>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  { error: "a definition (object)" },
);

const agent1 = z.object({
  v: z.literal(1),
  definition,
  /** Beside the definition, not in it (W1). */
  autonomous_mode: z.boolean(),
  by: z.string(),
});

const version1 = z.object({
  v: z.literal(1),
  definition,
  autonomous_mode: z.boolean(),
  by: z.string(),
  note: z.string().optional(),
  restored_from: z.number().int().optional(),
});

/** An agent as it is now. Definitions in it are as old as their last save: they are checked when they are bound. */
export const agentBody = versioned({ name: "agents", current: 1, versions: { 1: agent1 }, upgrade: {} });
export const agentVersionBody = versioned({
  name: "agent_versions",
  current: 1,
  versions: { 1: version1 },
  upgrade: {},
});

const byName = hot<{ tenant: string; name: string }, AgentsTable>((db, value) =>
  db.selectFrom("agents").selectAll().where("tenant", "=", value("tenant")).where("name", "=", value("name")),
);

/** An agent by its name in a tenant. */
export function* findByName(db: Builder, tenant: string, name: string): Operation<AgentsTable | undefined> {
  return (yield* byName(db, { tenant, name })).rows[0];
}

/** An agent by its name in a tenant, or by its id there. */
export function* findAgent(db: Builder, tenant: string, key: string): Operation<AgentsTable | undefined> {
  const named = yield* findByName(db, tenant, key);
  if (named !== undefined) return named;
  const [row] = yield* rows(
    db.selectFrom("agents").selectAll().where("id", "=", key).where("tenant", "=", tenant),
  );
  return row;
}

/** One version of an agent. */
export function* findVersion(
  db: Builder,
  tenant: string,
  agentId: string,
  n: number,
): Operation<AgentVersionsTable | undefined> {
  const [row] = yield* rows(
    db
      .selectFrom("agent_versions")
      .selectAll()
      .where("tenant", "=", tenant)
      .where("agent_id", "=", agentId)
      .where("n", "=", n),
  );
  return row;
}
