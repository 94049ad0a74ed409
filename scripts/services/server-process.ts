import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Watcher } from "./watcher.ts";

const START_MS = 120_000;
const STOP_MS = 30_000;
const POLL_MS = 20;

export interface Program {
  readonly name: string;
  readonly command: string;
  args(port: number): readonly string[];
  /** All of its environment, where that is not ours. */
  readonly env?: Readonly<Record<string, string>>;
  /** The user it runs as, where that is not ours. */
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
  /** Ends it cleanly, keeping its data. */
  readonly stopSignal: NodeJS.Signals;
  /** Ends it quickly; its data is thrown away. */
  readonly endSignal: NodeJS.Signals;
  /** Whether this very process answers on its port. */
  isReady(port: number, pid: number): Promise<boolean>;
}

/** A server as a child process that cannot outlive us: a watcher ends it and removes its folder. */
export class ServerProcess {
  readonly #program: Program;
  readonly #dir: string;
  readonly #watcher: Watcher;
  #child: ChildProcess | undefined;
  #port = 0;

  /** `dir` holds everything of this server and goes away with it. */
  constructor(program: Program, dir: string) {
    this.#program = program;
    this.#dir = dir;
    this.#watcher = new Watcher(dir, program.endSignal);
  }

  get port(): number {
    return this.#port;
  }

  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error(`${this.#program.name} does not run: it was stopped or killed`);
    return pid;
  }

  /** On the port it had, or on a free one. */
  async start(): Promise<void> {
    const until = Date.now() + START_MS;
    for (;;) {
      const port = this.#port || (await freePort());
      const exited = await this.#tryStart(port, until);
      if (exited === undefined) {
        this.#port = port;
        return;
      }
      // It may have lost the port to somebody, or what is left of a killed one may still be ending.
      if (Date.now() > until)
        throw new Error(`${this.#program.name} does not start: ${exited}\n${this.#log()}`);
      await sleep(POLL_MS * 10);
    }
  }

  async signal(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    if (child.exitCode !== null || child.signalCode !== null) return this.#forget();
    child.kill(signal);
    if (signal !== "SIGKILL") child.kill("SIGCONT"); // one that is frozen would not hear it
    const late = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
    await gone;
    clearTimeout(late);
    this.#forget();
  }

  async stop(): Promise<void> {
    await this.signal(this.#program.endSignal);
    await this.#watcher.close();
  }

  async restart(): Promise<void> {
    await this.signal(this.#program.stopSignal);
    await this.start();
  }

  /** Undefined once it answers, else how it ended. */
  async #tryStart(port: number, until: number): Promise<string | undefined> {
    const child = spawnServer(this.#program, port, this.#dir);
    this.#child = child;
    this.#watcher.tell(child.pid);
    let ended: string | undefined;
    child.once("error", (error) => {
      ended = error.message;
    });
    child.once("exit", (code, signal) => {
      ended ??= signal === null ? `it exited with ${code}` : `it was ended by ${signal}`;
    });
    while (ended === undefined && Date.now() < until) {
      if (child.pid !== undefined && (await this.#program.isReady(port, child.pid))) return undefined;
      await sleep(POLL_MS);
    }
    if (ended === undefined) await this.signal("SIGKILL");
    this.#forget();
    return ended ?? `it did not answer within ${START_MS / 1000} s`;
  }

  #forget(): void {
    this.#child = undefined;
    this.#watcher.tell(undefined);
  }

  #log(): string {
    return readFileSync(logFile(this.#dir), "utf8").trim().split("\n").slice(-8).join("\n");
  }
}

const logFile = (dir: string) => join(dir, "log");

function spawnServer({ command, args, env, user }: Program, port: number, dir: string): ChildProcess {
  const log = openSync(logFile(dir), "a");
  try {
    const child = spawn(command, args(port), {
      cwd: dir,
      stdio: ["ignore", log, log],
      detached: true, // Ctrl-C is for us: the watcher ends it
      ...(env === undefined ? {} : { env: { ...env } }),
      ...user,
    });
    child.unref();
    return child;
  } finally {
    closeSync(log);
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
