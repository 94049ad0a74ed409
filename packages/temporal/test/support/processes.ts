import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";
import type { DeskProgram, WorkerProgram } from "./program.ts";

const PROGRAM = fileURLToPath(new URL("program.ts", import.meta.url));

/** Many processes load the same sources: what the first has compiled halves the start of the others. */
const compiled = mkdtempSync(join(tmpdir(), "trackside-compiled-"));
const all = new Set<Program>();
afterAll(async () => {
  await Promise.all([...all].map((program) => program.kill()));
  rmSync(compiled, { recursive: true, force: true });
});

/** A process that the test started. None outlives the tests of its file. */
export class Program {
  readonly ready: Promise<void>;
  /** What it said, line by line. */
  readonly said: Record<string, unknown>[] = [];
  readonly ended: Promise<unknown>;
  readonly #child: ChildProcess;
  #errors = "";

  constructor(init: WorkerProgram | DeskProgram) {
    const flags = ["--conditions=@trackside/source", "--disable-warning=ExperimentalWarning"];
    const child = spawn(process.execPath, [...flags, PROGRAM, JSON.stringify(init)], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, NODE_COMPILE_CACHE: compiled },
    });
    this.#child = child;
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#errors += text;
    });
    this.ended = once(child, "close");
    this.ready = new Promise((resolve, reject) => {
      createInterface({ input: child.stdout }).on("line", (line) => {
        const said = line.startsWith("{") ? JSON.parse(line) : { logged: line };
        if (said.ready === true) resolve();
        else this.said.push(said);
      });
      void this.ended.then(() => reject(new Error(`the process ended: ${this.#errors}`)));
    });
    this.ready.catch(() => {}); // whoever waits for it hears of it
    all.add(this);
    void this.ended.then(() => all.delete(this));
  }

  get pid(): number {
    return this.#child.pid ?? -1;
  }

  get errors(): string {
    return this.#errors;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async kill(): Promise<void> {
    this.signal("SIGKILL");
    await this.ended;
  }
}
