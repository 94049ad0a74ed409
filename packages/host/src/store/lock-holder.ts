import { readFileSync, statSync } from "node:fs";

/** SQLite takes its write lock on this byte of the -shm file. */
const WRITE_LOCK_BYTE = 120;

/** Who holds the write lock of a database, in words, as far as this machine tells: `pid 4711 (node, stopped)`. */
export function lockHolder(path: string): string {
  try {
    const { ino } = statSync(`${path}-shm`);
    const pid = pidHolding(readFileSync("/proc/locks", "utf8"), ino);
    if (pid === undefined) return "another process";
    if (pid === process.pid) return "another store of this process";
    // Locks of another PID namespace have no number here.
    return pid > 0 ? `pid ${pid}${describe(pid)}` : "a process in another container";
  } catch {
    return "another process"; // no /proc here, or the lock is gone by now
  }
}

/** Lines are `1: POSIX  ADVISORY  WRITE 4711 08:01:131084 120 120`; those who wait have an arrow before POSIX. */
export function pidHolding(locks: string, inode: number): number | undefined {
  for (const line of locks.split("\n")) {
    const [, kind, , mode, pid, file, start, end] = line.trim().split(/\s+/);
    if (!(kind === "POSIX" || kind === "OFDLCK") || mode !== "WRITE") continue;
    if (file?.split(":").at(-1) !== String(inode)) continue;
    if (Number(start) <= WRITE_LOCK_BYTE && (end === "EOF" || Number(end) >= WRITE_LOCK_BYTE))
      return Number(pid);
  }
  return undefined;
}

const STATES: Readonly<Record<string, string>> = { T: "stopped", t: "stopped", D: "waiting for a disk" };

function describe(pid: number): string {
  try {
    // `4711 (name) S …`: the name may hold anything, a bracket too.
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const name = stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"));
    const state = STATES[stat.charAt(stat.lastIndexOf(")") + 2)];
    return ` (${[name, ...(state === undefined ? [] : [state])].join(", ")})`;
  } catch {
    return "";
  }
}
