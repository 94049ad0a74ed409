import { join } from "node:path";
import { vi } from "vitest";
import { temporaryFolder } from "../../../../../scripts/testing/temporary-folder.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 }); // where the disk or the cores are busy, all of it takes long

/** The path of a new database, in a folder of its own. */
export function databaseFile(): string {
  return join(temporaryFolder("engine"), "trackside.db");
}
