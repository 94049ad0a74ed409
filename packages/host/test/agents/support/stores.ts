import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, onTestFinished, vi } from "vitest";
import { postgresServer, serviceSuite } from "../../../../../scripts/services/index.ts";
import { postgres, type Store, sqlite } from "../../../src/index.ts";

/** Makes stores on one new database: each as another process would have it. */
export type Database = () => Promise<() => Store>;

/** The same tests on a SQLite file and on PostgreSQL. */
export async function onBothStores(title: string, body: (database: Database) => void): Promise<void> {
  vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 }); // where the disk or the cores are busy, all of it takes long
  describe(`${title}, on SQLite`, () => body(async () => sqliteDatabase()));
  await serviceSuite(`${title}, on PostgreSQL`, postgresServer, (server) => {
    body(async () => {
      const url = await server.createDatabase();
      return () => postgres(url);
    });
  });
}

export function sqliteDatabase(): () => Store {
  const dir = mkdtempSync(join(tmpdir(), "trackside-agents-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return () => sqlite(join(dir, "trackside.db"), { sync: "normal" });
}
