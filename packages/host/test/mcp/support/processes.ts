import { readdirSync, readFileSync } from "node:fs";

/** Command lines of the living processes that carry a mark among their arguments: children, and theirs. */
export function processesWith(mark: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((pid) => `${pid}: ${read(`/proc/${pid}/cmdline`).replaceAll("\0", " ")}`)
    .filter((line) => line.includes(mark));
}

/** A process that has ended, but whose parent has not heard of it yet, has no command line any more. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
