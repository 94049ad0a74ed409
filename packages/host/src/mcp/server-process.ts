import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { StderrTail } from "./stderr-tail.ts";

export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** How long a server gets to leave by itself, and then to leave when it is asked to. */
const GRACE_MS = 1_000;

const posix = process.platform !== "win32";

/**
 * The process of a server, started without a shell and at the head of a group of its own: whatever it starts ends with
 * it, also when it leaves by itself or when we do.
 */
export class ServerProcess {
  readonly stderr = new StderrTail();
  readonly #child: Child;
  readonly #exited: Promise<void>;
  #ending: Promise<void> | undefined;

  private constructor(child: Child) {
    this.#child = child;
    this.#exited = new Promise((resolve) => child.once("exit", () => resolve()));
    child.stderr.on("data", (chunk: Buffer) => this.stderr.add(chunk));
    // A broken pipe says no more than the exit that follows it.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on("error", () => undefined);
    child.on("error", () => undefined);
    remember(child);
  }

  /** Starts it; rejects when there is nothing to start. */
  static async start({ command, args, env }: Command): Promise<ServerProcess> {
    const child = spawn(command, args, {
      env,
      stdio: ["pipe", "pipe", "pipe"],
      shell: false,
      detached: posix,
      windowsHide: true,
    });
    // Heard before anything is awaited, so that a server that is gone at once is not missed.
    const started = once(child, "spawn");
    const running = new ServerProcess(child);
    try {
      await started;
    } catch (error) {
      forget(child);
      throw error;
    }
    return running;
  }

  get pid(): number | null {
    return this.#child.pid ?? null;
  }

  get stdin(): Writable {
    return this.#child.stdin;
  }

  get stdout(): Readable {
    return this.#child.stdout;
  }

  /** How it ended, in words, or nothing while it runs. */
  get ended(): string | undefined {
    const { exitCode, signalCode } = this.#child;
    if (signalCode !== null) return `was ended by ${signalCode}`;
    return exitCode === null ? undefined : `exited with code ${exitCode}`;
  }

  /** `left` is called when the process is gone and everything it wrote has been read, or will not be. */
  onExit(left: () => void): void {
    this.#child.once("close", left);
    // Something it started may hold its pipes open for ever.
    void this.#exited.then(() => setTimeout(left, GRACE_MS).unref());
  }

  /** `cut` is called when the process has closed a pipe and lives on: it can be talked to no more. */
  onHalfClosed(cut: (what: string) => void): void {
    const { stdin, stdout } = this.#child;
    const unlessLeaving = (what: string) => {
      // One that ends closes its pipes too, a moment before we hear of it.
      setTimeout(() => {
        if (this.ended === undefined && this.#ending === undefined) cut(what);
      }, GRACE_MS).unref();
    };
    stdin.once("close", () => unlessLeaving("closed its input"));
    stdout.once("end", () => unlessLeaving("closed its output"));
  }

  /** Whether our own process may end while this one runs. */
  hold(needed: boolean): void {
    const { stdin, stdout, stderr } = this.#child;
    for (const handle of [this.#child, stdin, stdout, stderr]) {
      // Pipes of a child are sockets, which have both; the types know only streams.
      const counted = handle as Partial<Pick<ChildProcess, "ref" | "unref">>;
      if (needed) counted.ref?.();
      else counted.unref?.();
    }
  }

  /** Ends it and all it started: its input closes, then it is asked, then it is made to. Takes three seconds at most. */
  end(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  /** Ends it and all it started at once, for those that are not to be reasoned with. */
  kill(): Promise<void> {
    if (this.ended === undefined) signalGroup(this.#child, "SIGKILL");
    // It may still have filled the pipe, and nobody wants that.
    this.#child.stdout.destroy();
    return this.end();
  }

  async #end(): Promise<void> {
    this.hold(true); // whoever waits for this must not find the process ended instead
    const { stdin, stdout, stderr } = this.#child;
    stdin.end();
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      if (await this.#gone()) break;
      signalGroup(this.#child, signal);
    }
    await this.#gone();
    for (const stream of [stdin, stdout, stderr]) stream.destroy();
  }

  async #gone(): Promise<boolean> {
    if (this.ended !== undefined) return true;
    const over = new AbortController();
    const late = wait(GRACE_MS, false, { signal: over.signal }).catch(() => false);
    const gone = await Promise.race([this.#exited.then(() => true), late]);
    over.abort();
    return gone;
  }
}

/** Groups that are alive, so that none outlives us. */
const groups = new Set<Child>();

function remember(child: Child): void {
  if (groups.size === 0) process.on("exit", killAll);
  groups.add(child);
  child.once("exit", () => {
    // Those it started stay in its group; without their head nobody is left to ask them politely.
    signalGroup(child, "SIGKILL");
    forget(child);
  });
}

function forget(child: Child): void {
  groups.delete(child);
  if (groups.size === 0) process.off("exit", killAll);
}

function killAll(): void {
  for (const child of groups) signalGroup(child, "SIGKILL");
}

function signalGroup(child: Child, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    if (posix) process.kill(-child.pid, signal);
    else child.kill(signal);
  } catch {
    // Nobody of it is left.
  }
}
