import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, vi } from "vitest";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 }); // where the disk or the cores are busy, all of it takes long

const made: string[] = [];
afterAll(() => {
  for (const dir of made.splice(0)) rmSync(dir, { recursive: true, force: true });
});

/** A place for a database of the test's own; gone after the file's tests. */
export function databaseFile(): string {
  const dir = mkdtempSync(join(tmpdir(), "trackside-engine-"));
  made.push(dir);
  return join(dir, "trackside.db");
}
