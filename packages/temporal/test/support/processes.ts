import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterFile } from "../../../../scripts/testing/after-file.ts";
import type { WorkerInit } from "./worker.ts";

const PROGRAM = fileURLToPath(new URL("program.ts", import.meta.url));

/** A worker in a process of its own. It is killed after the last test of the file at the latest. */
export class Program {
  readonly ready: Promise<void>;
  /** What it said, line by line. */
  readonly said: Record<string, unknown>[] = [];
  readonly ended: Promise<unknown>;
  readonly #child: ChildProcess;
  #errors = "";

  constructor(init: WorkerInit) {
    const flags = ["--conditions=@trackside/source", "--disable-warning=ExperimentalWarning"];
    const child = spawn(process.execPath, [...flags, PROGRAM, JSON.stringify(init)], {
      stdio: ["pipe", "pipe", "pipe"], // the program ends when its stdin does
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
    afterFile(() => this.kill());
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
