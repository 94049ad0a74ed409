import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { Watcher } from "./watcher.ts";

const PREFIX = "work-";
const LAST_WORDS = 2000;
/** Nothing works that long: what is older was left by a machine that went down. */
const ABANDONED_MS = 24 * 3_600_000;

export interface RunOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs: number;
}

/** A folder for work that takes minutes. It goes away after the work, and so do the programs that work in it. */
export class WorkFolder {
  readonly dir: string;
  readonly #watcher: Watcher;

  constructor(parent: string) {
    this.dir = mkdtempSync(join(parent, PREFIX));
    this.#watcher = new Watcher(this.dir, "SIGTERM");
  }

  /** Undefined when the program ended well, else why not. One at a time. */
  async run(
    command: string,
    args: readonly string[],
    { timeoutMs, ...where }: RunOptions,
  ): Promise<string | undefined> {
    const child = spawn(command, args, {
      ...where,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true, // a group of its own, so that all it starts can be ended with it
    });
    if (child.pid !== undefined) this.#watcher.tell(-child.pid);
    let said = "";
    const hear = (chunk: unknown) => {
      said = `${said}${chunk}`.slice(-LAST_WORDS);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      endGroup(child);
    }, timeoutMs);
    const ended = await endOf(child);
    clearTimeout(timer);
    this.#watcher.tell(undefined);
    if (late) return `no end within ${timeoutMs / 1000} s`;
    return ended === undefined ? undefined : `${ended}: ${said.trim().split("\n").slice(-3).join(" | ")}`;
  }

  close(): Promise<void> {
    return this.#watcher.close();
  }
}

/** Does the work in a folder under `parent`, so that what it makes can be renamed to a place there. */
export async function inWorkFolder<T>(parent: string, work: (folder: WorkFolder) => Promise<T>): Promise<T> {
  mkdirSync(parent, { recursive: true });
  sweep(parent);
  const folder = new WorkFolder(parent);
  try {
    return await work(folder);
  } finally {
    await folder.close();
  }
}

function sweep(parent: string): void {
  for (const name of readdirSync(parent)) {
    const path = join(parent, name);
    const abandoned = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY;
    if (!name.startsWith(PREFIX) || Date.now() - abandoned < ABANDONED_MS) continue;
    rmSync(path, { recursive: true, force: true });
  }
}

function endOf(child: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    // Not "close": something it left behind might hold its output open.
    child.once("exit", (code, signal) =>
      resolve(
        code === 0 ? undefined : signal === null ? `it exited with ${code}` : `it was ended by ${signal}`,
      ),
    );
  });
}

function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // it ended just now
  }
}
