import { closeSync, existsSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { workflowBundle } from "../../src/worker/workflow-bundle.ts";

const POLL_MS = 50;

/** The file of the workflow bundle, in the folder of the test run. The first process that asks builds it, others wait. */
export async function bundleFile(): Promise<string> {
  const file = join(tmpdir(), "workflow-bundle.js");
  if (!existsSync(file) && isFirst(`${file}.lock`)) {
    const made = await workflowBundle();
    writeFileSync(`${file}.new`, "code" in made ? made.code : readFileSync(made.codePath));
    renameSync(`${file}.new`, file);
  }
  while (!existsSync(file)) await sleep(POLL_MS);
  return file;
}

function isFirst(lock: string): boolean {
  try {
    closeSync(openSync(lock, "wx"));
    return true;
  } catch {
    return false;
  }
}
