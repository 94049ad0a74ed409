import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryFolder } from "../../../../scripts/testing/temporary-folder.ts";
import { type Finished, type Running, type StartOptions, start } from "./cli.ts";

const configs = {
  durable: import.meta.resolve("../fixtures/durable.ts"),
  served: import.meta.resolve("../fixtures/served.ts"),
  workflows: import.meta.resolve("../fixtures/workflows.ts"),
};

/** A config that makes what a fixture describes, anew whenever it is loaded. */
export function configOf(fixture: keyof typeof configs): string {
  return `import { config } from ${JSON.stringify(configs[fixture])};\nexport default config();\n`;
}

type Json = Record<string, unknown>;

/** A folder with a config, and a store once something is in it. */
export function project(config: string | null = configOf("durable")) {
  const folder = temporaryFolder("cli");
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  if (config !== null) write("trackside.config.ts", config);
  const begin = (args: readonly string[], options: StartOptions = {}) =>
    start(args, { cwd: folder, ...options });
  const run = (args: readonly string[], options: StartOptions = {}): Promise<Finished> =>
    begin(args, options).ended;
  return {
    folder,
    write,
    start: begin,
    cli: run,
    /** Runs a command that must work, and answers its lines of JSON. */
    async json(...args: string[]): Promise<Json[]> {
      const { code, stdout, stderr } = await run([...args, "--json"]);
      if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}: ${stderr}`);
      return linesOf(stdout);
    },
    /** Leaves a run to a worker. */
    async queue(agent: string): Promise<string> {
      const { code, stdout, stderr } = await run(["run", agent, "go", "--queue"]);
      if (code !== 0) throw new Error(stderr);
      return stdout.trim();
    },
    worker: (args: readonly string[] = [], options: StartOptions = {}): Worker =>
      workerOf(begin(["worker", "--json", ...args], options)),
    terminal: (args: readonly string[], options: StartOptions = {}): Running =>
      begin(args, { terminal: true, ...options }),
    /** What tools did, in all processes. The file is there a moment before its first line. */
    ledger: () => {
      const path = join(folder, "ledger.txt");
      return existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : [];
    },
  };
}

export type Project = ReturnType<typeof project>;

export interface Worker extends Running {
  /** Waits for a line that says this. */
  said(change: string, runId?: string): Promise<Json>;
}

function workerOf(running: Running): Worker {
  const isAbout = (line: Json, change: string, runId: string | undefined) =>
    line["change"] === change && (runId === undefined || line["run_id"] === runId);
  const said = (change: string, runId?: string) =>
    running.until(() => linesOf(running.stdout).find((line) => isAbout(line, change, runId)), change);
  // Not a copy: what is written so far is read anew.
  return Object.assign(Object.create(running) as Running, { said });
}

/** The complete lines of a text, each of them JSON. */
export function linesOf(text: string): Json[] {
  return text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** Looks until there is something. The test's own time limit ends it. */
export async function until<T>(look: () => Promise<T | undefined> | T | undefined): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
