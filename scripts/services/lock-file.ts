import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 200;

/** Does the work while no other process or thread does work of that name. Undefined when the lock does not come in time. */
export async function withLock<T>(
  name: string,
  work: () => Promise<T>,
  { waitMs }: { waitMs: number },
): Promise<T | undefined> {
  const path = join(tmpdir(), `trackside-${name}.lock`);
  const until = Date.now() + waitMs;
  while (!take(path)) {
    if (isStale(path, waitMs)) rmSync(path, { force: true });
    else if (Date.now() > until) return undefined;
    else await sleep(POLL_MS);
  }
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

function take(path: string): boolean {
  try {
    writeFileSync(path, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false; // fs throws nothing else
    throw error;
  }
}

/** Its holder has died, or it is older than any work may take: a thread can die without its process. */
function isStale(path: string, maxAgeMs: number): boolean {
  try {
    if (Date.now() - statSync(path).mtimeMs > maxAgeMs) return true;
    const pid = Number(readFileSync(path, "utf8"));
    return pid > 0 && !isAlive(pid);
  } catch {
    return false; // released in between
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // of another user; kill throws nothing else
  }
}
