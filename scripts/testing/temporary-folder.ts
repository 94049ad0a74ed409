import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folders = new Set<string>();

/**
 * A new folder for the test file that asks for it. `setup.ts` removes it after the last test of the file, so that no test
 * cleans up for itself. Works at the top of a file, in hooks, in tests and in concurrent tests.
 */
export function temporaryFolder(name: string): string {
  const dir = mkdtempSync(join(tmpdir(), `${name}-`));
  folders.add(dir);
  return dir;
}

/**
 * Removes the folders of this test file. Never fails: a process that still ends may write a last file into one of them,
 * and the folder of the whole run is removed after every process has ended.
 */
export async function removeTemporaryFolders(): Promise<void> {
  const dirs = [...folders];
  folders.clear();
  await Promise.all(
    dirs.map((dir) => rm(dir, { recursive: true, force: true, maxRetries: 3 }).catch(() => {})),
  );
}
