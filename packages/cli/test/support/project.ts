import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";
import { type CliOptions, cleanEnvironment, cli, command, type Finished } from "./cli.ts";
import { type Terminal, terminal } from "./terminal.ts";

const DURABLE = `export { default } from ${JSON.stringify(import.meta.resolve("../fixtures/durable.ts"))};\n`;

const folders: string[] = [];
const workers: Worker[] = [];

afterAll(async () => {
  for (const worker of workers) worker.signal("SIGKILL");
  await Promise.all(workers.map(({ ended }) => ended));
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** A folder with a config, and a store once something is in it. It goes away with the tests. */
export function project(config: string | null = DURABLE) {
  const folder = mkdtempSync(join(tmpdir(), "trackside-cli-"));
  folders.push(folder);
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  if (config !== null) write("trackside.config.ts", config);
  const run = (args: readonly string[], options: CliOptions = {}): Promise<Finished> =>
    cli(args, { cwd: folder, ...options });
  return {
    folder,
    write,
    cli: run,
    /** Runs a command that must work, and answers its lines of JSON. */
    async json(...args: string[]): Promise<Record<string, unknown>[]> {
      const { code, stdout, stderr } = await run([...args, "--json"]);
      if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}: ${stderr}`);
      return stdout
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line));
    },
    /** Leaves a run to a worker. */
    async queue(agent: string): Promise<string> {
      const { code, stdout, stderr } = await run(["run", agent, "go", "--queue"]);
      if (code !== 0) throw new Error(stderr);
      return stdout.trim();
    },
    worker(...args: string[]): Worker {
      const started = startWorker(folder, args);
      workers.push(started);
      return started;
    },
    terminal(args: readonly string[], env: Record<string, string> = {}): Terminal {
      return terminal(args, { EDITOR: "", VISUAL: "", ...env }, folder);
    },
    /** What tools did, in all processes. The file is there a moment before its first line. */
    ledger: () => {
      const path = join(folder, "ledger.txt");
      return existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : [];
    },
  };
}

export type Project = ReturnType<typeof project>;

export interface Worker {
  readonly pid: number;
  /** So far. */
  readonly stderr: string;
  /** Waits for a line that says this. */
  said(change: string, runId?: string): Promise<Record<string, unknown>>;
  signal(name: NodeJS.Signals): void;
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; stderr: string }>;
}

function startWorker(folder: string, args: readonly string[]): Worker {
  const [node, ...flags] = command;
  const child: ChildProcess = spawn(node, [...flags, "worker", "--json", ...args], {
    cwd: folder,
    env: cleanEnvironment(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  let over = false;
  const looking = new Set<() => void>();
  const look = () => {
    for (const one of looking) one();
  };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    look();
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const ended = new Promise<Awaited<Worker["ended"]>>((done) => {
    child.on("close", (code, signal) => {
      over = true;
      look();
      done({ code, signal, stderr });
    });
  });
  return {
    pid: child.pid ?? 0,
    get stderr() {
      return stderr;
    },
    ended,
    signal: (name) => child.kill(name),
    said: (change, runId) =>
      new Promise((done, failed) => {
        const find = () => {
          const lines = stdout
            .slice(0, stdout.lastIndexOf("\n") + 1)
            .split("\n")
            .filter(Boolean);
          const found = lines
            .map((line) => JSON.parse(line))
            .find((line) => line.change === change && (runId === undefined || line.run_id === runId));
          if (found === undefined && !over) return;
          looking.delete(find);
          if (found === undefined)
            failed(new Error(`the worker ended without ${change}: ${stdout}${stderr}`));
          else done(found);
        };
        looking.add(find);
        find();
      }),
  };
}

/** Looks until there is something. The test's own time limit ends it. */
export async function until<T>(look: () => Promise<T | undefined> | T | undefined): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
