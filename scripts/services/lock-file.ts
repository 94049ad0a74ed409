import { randomUUID } from "node:crypto";
import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 200;
const TOUCH_MS = 5000;
/** A thread can die without its process: what nobody touched for so long has no holder. */
const STALE_MS = 60_000;

/** Does the work while no other process or thread does work of that name. Undefined when the lock does not come in time. */
export async function withLock<T>(
  name: string,
  work: () => Promise<T>,
  { waitMs, onWait }: { waitMs: number; onWait?: () => void },
): Promise<T | undefined> {
  const path = join(tmpdir(), `trackside-${name}.lock`);
  const mine = `${process.pid} ${randomUUID()}`;
  const until = Date.now() + waitMs;
  let waits = false;
  while (!take(path, mine)) {
    if (isStale(path)) {
      rmSync(path, { force: true });
      continue;
    }
    if (!waits) onWait?.();
    waits = true;
    if (Date.now() > until) return undefined;
    await sleep(POLL_MS);
  }
  const touching = setInterval(() => touch(path), TOUCH_MS);
  touching.unref();
  const release = () => {
    // Somebody may have taken us for dead, and hold it now.
    if (holderOf(path) === mine) rmSync(path, { force: true });
  };
  process.once("exit", release);
  try {
    return await work();
  } finally {
    clearInterval(touching);
    process.off("exit", release);
    release();
  }
}

function take(path: string, mine: string): boolean {
  try {
    writeFileSync(path, mine, { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false; // fs throws nothing else
    throw error;
  }
}

function touch(path: string): void {
  try {
    utimesSync(path, new Date(), new Date());
  } catch {
    // Somebody cleared the temporary folder: the work goes on, and at worst is done twice.
  }
}

function isStale(path: string): boolean {
  try {
    if (Date.now() - statSync(path).mtimeMs > STALE_MS) return true;
    const pid = Number.parseInt(holderOf(path) ?? "", 10);
    return pid > 0 && !isAlive(pid);
  } catch {
    return false; // released in between
  }
}

function holderOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
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
