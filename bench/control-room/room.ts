/** A control room in a process of its own, as people run it, on a database that is thrown away. */
import { type ChildProcess, fork } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cpuMillis } from "../temporal/cpu.ts";
import { killed, messageOf } from "../temporal/programs.ts";
import type { Where } from "./http.ts";

/** A checkout that was not built is measured from its source. */
const BUILT = existsSync(join(import.meta.dirname, "../../packages/server/dist/index.js"));
const CONDITIONS =
  BUILT && process.env.TRACKSIDE_BENCH_SOURCE === undefined ? [] : ["--conditions=@trackside/source"];

export interface Room extends Where {
  /** An admin's, for a browser to sign in with. */
  readonly login: { readonly name: string; readonly password: string };
  /** Lets the talking agents speak. */
  speak(): void;
  /** What the server took so far. */
  used(): { cpuMillis: number; rssKiB: number };
}

export async function inRoom<T>(use: (room: Room) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "trackside-bench-"));
  const child = fork(join(import.meta.dirname, "program.ts"), [join(folder, "bench.db")], {
    execArgv: CONDITIONS,
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  try {
    const said = await messageOf<Omit<Room, "speak" | "used">>(child, "the control room");
    return await use({ ...said, speak: () => void child.send("speak"), used: () => usedBy(child) });
  } finally {
    await killed([child]);
    rmSync(folder, { recursive: true });
  }
}

function usedBy({ pid }: ChildProcess): { cpuMillis: number; rssKiB: number } {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return { cpuMillis: cpuMillis(pid), rssKiB: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) };
}
