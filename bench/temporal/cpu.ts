/** CPU time of the processes of a measurement, on Linux: what each has to do with a step, whatever else the machine does. */
import { readdirSync, readFileSync } from "node:fs";

const TICK_MS = 10;

/** Milliseconds of a process and of those it has started, as far as they are its children; NaN where that is not known. */
export function cpuMillis(pid: number | undefined): number {
  try {
    const own = statOf(String(pid));
    const under = readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(statOf)
      .filter((stat) => stat.parent === pid);
    // Those that have ended are counted with whoever started them.
    return own.ended + [own, ...under].reduce((sum, { millis }) => sum + millis, 0);
  } catch {
    return Number.NaN;
  }
}

function statOf(pid: string): { parent: number; millis: number; ended: number } {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch (error) {
    if (pid === "undefined" || !isGone(error)) throw error;
    return { parent: Number.NaN, millis: 0, ended: 0 }; // between two looks
  }
  // The name of the program comes first, in brackets, and may hold anything.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const at = (i: number) => Number(fields[i]);
  return { parent: at(1), millis: (at(11) + at(12)) * TICK_MS, ended: (at(13) + at(14)) * TICK_MS };
}

function isGone(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException; // fs throws nothing else
  return code === "ENOENT" || code === "ESRCH";
}
