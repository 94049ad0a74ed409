import { join } from "node:path";
import { describe, vi } from "vitest";
import { serviceSuite, sharedPostgres } from "../../../../../scripts/services/index.ts";
import { temporaryFolder } from "../../../../../scripts/testing/temporary-folder.ts";
import { postgres, type Store, sqlite } from "../../../src/index.ts";

/** Makes stores on one new database: each as another process would have it. */
export type Database = () => Promise<() => Store>;

/** The same tests on a SQLite file and on PostgreSQL. */
export async function onBothStores(title: string, body: (database: Database) => void): Promise<void> {
  vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 }); // where the disk or the cores are busy, all of it takes long
  describe(`${title}, on SQLite`, () => body(async () => sqliteDatabase()));
  await serviceSuite(`${title}, on PostgreSQL`, sharedPostgres, (server) => {
    body(async () => {
      const url = await server.createDatabase();
      return () => postgres(url);
    });
  });
}

export function sqliteDatabase(): () => Store {
  const path = join(temporaryFolder("agents"), "trackside.db");
  return () => sqlite(path, { sync: "normal" });
}
