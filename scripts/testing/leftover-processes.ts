import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { RUN_FOLDER } from "./run-folder.ts";

/** A process that was told to end gets this long. */
const GRACE_MS = 15_000;
const POLL_MS = 50;

/**
 * Waits for the processes that tests of this run started, then kills those that still run. Returns their command lines.
 * A process is known by the run's folder in its environment, so this needs Linux and finds nothing elsewhere.
 */
export async function endLeftoverProcesses(
  runFolder: string,
  graceMs = GRACE_MS,
): Promise<readonly string[]> {
  const until = Date.now() + graceMs;
  let left = processesOf(runFolder);
  while (left.length > 0 && Date.now() < until) {
    await sleep(POLL_MS);
    left = processesOf(runFolder);
  }
  for (const { pid } of left) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // it ended just now
    }
  }
  return left.map(({ pid, command }) => `${pid} ${command}`);
}

function processesOf(runFolder: string): readonly { pid: number; command: string }[] {
  const mark = `${RUN_FOLDER}=${runFolder}`;
  return pids().flatMap((pid) => {
    if (pid === process.pid || !(read(pid, "environ") ?? "").split("\0").includes(mark)) return [];
    const command = (read(pid, "cmdline") ?? "").replaceAll("\0", " ").trim();
    // A zombie has no command line; a worker of vitest ends with vitest.
    return command === "" || /[\\/]vitest[\\/]dist[\\/]/.test(command) ? [] : [{ pid, command }];
  });
}

function pids(): readonly number[] {
  try {
    return readdirSync("/proc").map(Number).filter(Number.isInteger);
  } catch {
    return []; // not Linux
  }
}

function read(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return undefined; // it ended, or is another user's
  }
}
