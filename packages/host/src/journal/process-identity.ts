import { readFileSync, readlinkSync } from "node:fs";
import { hostname, platform } from "node:os";
import { newId } from "trackside/engine";

/** A process, as others know it. */
export interface ProcessIdentity {
  readonly id: string;
  readonly host: string;
  /** The boot and the PID namespace: within one of these a pid means something. */
  readonly machine: string;
  readonly pid: number;
  /** When it started, as the system counts: a pid may be used again. */
  readonly started: string;
}

export function thisProcess(): ProcessIdentity {
  return {
    id: newId("proc"),
    host: hostname(),
    machine: machine(),
    pid: process.pid,
    started: startOf(process.pid)?.started ?? "",
  };
}

/** Whether a process is certainly gone. Of another machine nobody can tell. */
export function isGone({ machine: where, pid, started }: ProcessIdentity): boolean {
  if (where !== machine()) return false;
  if (platform() === "linux") {
    const now = startOf(pid);
    return now === undefined || now.dead || now.started !== started;
  }
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
}

let known: string | undefined;

function machine(): string {
  known ??= `${bootId()}/${read(() => readlinkSync("/proc/self/ns/pid")) ?? ""}`;
  return known;
}

function bootId(): string {
  return read(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()) ?? hostname();
}

function startOf(pid: number): { started: string; dead: boolean } | undefined {
  const stat = read(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  if (stat === undefined) return undefined;
  // The name is in parentheses and may hold anything; the state is field 3, the start field 22.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { started: fields[19] ?? "", dead: fields[0] === "Z" || fields[0] === "X" };
}

function read(get: () => string): string | undefined {
  try {
    return get();
  } catch {
    return undefined;
  }
}
