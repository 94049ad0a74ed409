import { CompiledQuery } from "kysely";
import type { Dialect } from "../builder.ts";
import type { Operation, Store, Work } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { tables } from "./0001-tables.ts";
import { toolDefinitions } from "./0002-tool-definitions.ts";
import { artifactSources } from "./0003-artifact-sources.ts";
import { runEngine } from "./0004-run-engine.ts";
import { agents } from "./0005-agents.ts";
import { access } from "./0006-access.ts";
import { answers } from "./0007-answers.ts";
import { controlRoom } from "./0008-control-room.ts";
import { workflows } from "./0009-workflows.ts";
import { plans } from "./0010-plans.ts";
import { schedules } from "./0011-schedules.ts";
import type { Migration } from "./migration.ts";
import { createTable } from "./table.ts";

/** Every step, oldest first. */
export const MIGRATIONS: readonly Migration[] = [
  tables,
  toolDefinitions,
  artifactSources,
  runEngine,
  agents,
  access,
  answers,
  controlRoom,
  workflows,
  plans,
  schedules,
];

/** Any number will do, so long as it is always this one: whoever migrates holds the lock of this name. */
const POSTGRES_LOCK = 7_238_014_662;

/**
 * Brings the tables to the newest version, each step in a transaction of its own. Several processes may do this at once: a
 * step begins by taking the lock and looking again. Where nothing is to be done nothing is locked, so that a store opens
 * while another process holds the database up.
 */
export async function migrate(
  store: Pick<Store, "name" | "read" | "write">,
  dialect: Dialect,
): Promise<void> {
  const newest = MIGRATIONS.at(-1)?.version ?? 0;
  const version = await store.read(() => versionOf(dialect));
  if (version > newest) throw fromTheFuture(store.name, version, newest);
  for (const migration of MIGRATIONS)
    if (migration.version > version) await store.write(applying(migration, dialect));
  const reached = await store.read(() => versionOf(dialect));
  if (reached > newest) throw fromTheFuture(store.name, reached, newest);
}

function applying(migration: Migration, dialect: Dialect): Work<void> {
  return function* () {
    if (dialect === "postgres") yield raw(`SELECT pg_advisory_xact_lock(${POSTGRES_LOCK})`);
    const known = yield* versionOf(dialect);
    if (known >= migration.version) return;
    const integer = dialect === "sqlite" ? "INTEGER" : "BIGINT";
    const columns = `version ${integer} NOT NULL PRIMARY KEY, applied_at ${integer} NOT NULL`;
    if (known === 0) yield raw(`CREATE TABLE trackside_schema (${columns})`);
    for (const [name, table] of Object.entries(migration.tables ?? {}))
      for (const statement of createTable(name, table, dialect)) yield raw(statement);
    for (const statement of migration.statements?.[dialect] ?? []) yield raw(statement);
    const values = `${migration.version}, ${Date.now()}`;
    yield raw(`INSERT INTO trackside_schema (version, applied_at) VALUES (${values})`);
  };
}

function* versionOf(dialect: Dialect): Operation<number> {
  const there =
    dialect === "sqlite"
      ? "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'trackside_schema'"
      : "SELECT 1 WHERE to_regclass('trackside_schema') IS NOT NULL";
  if ((yield raw(there)).rows.length === 0) return 0;
  const found = yield raw("SELECT max(version) AS version FROM trackside_schema");
  const [row] = found.rows as readonly { version: number | null }[]; // as the query names it
  return row?.version ?? 0;
}

function fromTheFuture(name: string, version: number, newest: number): StoreError {
  const what = `The database of ${name} was written by a newer version: its tables have version ${version}`;
  const next = "Upgrade @trackside/host, or give it another database.";
  return new StoreError("unusable", `${what}, this one knows ${newest} and older. ${next}`);
}

function raw(sql: string): CompiledQuery {
  return CompiledQuery.raw(sql);
}
