import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The environment variable that every process of a test run inherits. Its value is the run's folder. */
export const RUN_FOLDER = "TRACKSIDE_TEST_RUN";

/**
 * Gives this test run a folder and makes it the temporary folder of every test and of every process that tests start.
 * Called from the vitest configuration, before workers copy the environment. Short, because paths of sockets are limited.
 */
export function makeRunFolder(): string {
  const known = process.env[RUN_FOLDER];
  if (known !== undefined) return known; // a program that a test started loads this configuration again
  const dir = mkdtempSync(join(tmpdir(), "trackside-"));
  chmodSync(dir, 0o711); // PostgreSQL runs as another user
  // A run that ends before its global setup, without a file to run, leaves nothing either.
  process.once("exit", () => rmSync(dir, { recursive: true, force: true }));
  process.env[RUN_FOLDER] = dir;
  process.env["TMPDIR"] = dir;
  return dir;
}

/** Removes the folder. Retries, because a process that was just killed may still write. */
export async function removeRunFolder(dir: string): Promise<void> {
  await rm(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}
