import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import type { Builder } from "./store.ts";
import type { Tables } from "./tables.ts";

export type Dialect = "sqlite" | "postgres";

const builders = new Map<Dialect, Builder>();

/**
 * What operations build queries with. It has no connection: the stores run what it compiles. One for each database, so
 * that a query compiled once serves every store.
 */
export function builderFor(dialect: Dialect): Builder {
  const known = builders.get(dialect);
  if (known !== undefined) return known;
  const sqlite = dialect === "sqlite";
  const builder = new Kysely<Tables>({
    dialect: {
      createAdapter: () => (sqlite ? new SqliteAdapter() : new PostgresAdapter()),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => (sqlite ? new SqliteIntrospector(db) : new PostgresIntrospector(db)),
      createQueryCompiler: () => (sqlite ? new SqliteQueryCompiler() : new PostgresQueryCompiler()),
    },
  });
  builders.set(dialect, builder);
  return builder;
}
