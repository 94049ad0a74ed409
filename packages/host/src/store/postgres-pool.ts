import { randomBytes } from "node:crypto";
import type { CompiledQuery } from "kysely";
import pg from "pg";
import type { QueryRows } from "./store.ts";

const INT8 = 20;

/** Below the lease of a process (10 s): one that freezes inside a transaction must not hold its locks until it lapses. */
const IDLE_IN_TRANSACTION_MS = 5_000;
const STATEMENT_MS = 30_000;
/** For a server that does not answer at all; one that does has given up the statement long before. */
const SILENCE_MS = STATEMENT_MS + 15_000;
const CONNECT_MS = 10_000;

/** Times and counters are bigint in the database and numbers here, on these connections only: other users of `pg` are not touched. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: "text" | "binary") =>
    oid === INT8 && format !== "binary"
      ? Number
      : pg.types.getTypeParser(oid, format as "text")) as pg.CustomTypesConfig["getTypeParser"], // its overloads say the same
};

/** Everything about a connection, with a name that tells this store's sessions from those of others. */
export function connectionConfig(
  target: string | pg.PoolConfig,
): pg.PoolConfig & { application_name: string } {
  const given = typeof target === "string" ? { connectionString: target } : target;
  const label = given.application_name ?? "trackside";
  return {
    connectionTimeoutMillis: CONNECT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    statement_timeout: STATEMENT_MS,
    query_timeout: SILENCE_MS,
    keepAlive: true,
    // As with SQLite: a store that is only open does not keep the process.
    allowExitOnIdle: true,
    types,
    ...given,
    application_name: `${label} ${randomBytes(4).toString("hex")}`,
  };
}

export function createPool(config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool(config);
  // A connection that breaks says so to whoever uses it next; without listeners it would end the process.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
  return pool;
}

/** Where it connects to, without a password. */
export function describeTarget(config: pg.PoolConfig): string {
  const { host, port, database, user } = new pg.Client(config);
  return `postgres ${user}@${host}:${port}/${database}`;
}

export type Statement = Pick<CompiledQuery, "sql" | "parameters">;

export interface PostgresRows extends QueryRows {
  /** It may have changed something: anything but a plain look, or a change that met no row. */
  readonly wrote: boolean;
}

export async function query(client: pg.ClientBase, { sql, parameters }: Statement): Promise<PostgresRows> {
  const { rows, rowCount, command } = await client.query(sql, [...parameters]);
  const changed = command === "SELECT" ? 0 : (rowCount ?? 0);
  const harmless = /^\s*select\b/i.test(sql) || (/^\s*(insert|update|delete)\b/i.test(sql) && changed === 0);
  return { rows, changed, wrote: !harmless };
}
