import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { existsSync, mkdtempSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { build } from "tsdown";
import { RUN_FOLDER } from "../../../../../scripts/testing/run-folder.ts";

const ROOT = fileURLToPath(new URL("../../../../../", import.meta.url));
const HERE = fileURLToPath(new URL("./", import.meta.url));
/** What is native, or loaded only where it is needed, stays where it is. */
const APART = ["better-sqlite3", "pg", "redis", /^@opentelemetry\//];

/** The programs that are killed, each in one file: they are started by the hundred, and so start in a third of the time. */
export class Programs {
  readonly #dir: string;
  readonly #isShared: boolean;

  constructor(dir: string, isShared = false) {
    this.#dir = dir;
    this.#isShared = isShared;
  }

  /** Test files of one run share what the first of them built; the folder of the run is removed with it. */
  static async build(): Promise<Programs> {
    const run = process.env[RUN_FOLDER];
    if (run === undefined) return Programs.#build();
    const shared = join(run, "crash-programs");
    if (existsSync(shared)) return new Programs(shared, true);
    const built = await Programs.#build();
    try {
      renameSync(built.#dir, shared);
    } catch {
      built.remove(); // another test file was faster
    }
    return new Programs(shared, true);
  }

  static async #build(): Promise<Programs> {
    const dir = mkdtempSync(join(tmpdir(), "trackside-programs-"));
    symlinkSync(join(ROOT, "node_modules"), join(dir, "node_modules")); // where packages that stay apart are found
    await build({
      config: false,
      cwd: ROOT,
      tsconfig: join(ROOT, "tsconfig.json"),
      entry: {
        worker: join(HERE, "worker.ts"),
        "simulated-worker": join(HERE, "simulated-worker.ts"),
        "kill-worker": join(HERE, "kill-worker.ts"),
        "race-program": join(HERE, "../races/support/program.ts"),
        "pulse-worker": fileURLToPath(new URL("../../../src/pulse-worker.ts", import.meta.url)),
      },
      outDir: dir,
      clean: false,
      format: "esm",
      platform: "node",
      fixedExtension: false,
      dts: false,
      deps: { alwaysBundle: [/.*/], neverBundle: APART },
      inputOptions: { resolve: { conditionNames: ["@trackside/source", "node", "import", "default"] } },
      logLevel: "error",
    });
    return new Programs(dir);
  }

  start(
    name: "worker" | "kill-worker" | "race-program",
    args: readonly string[] = [],
    variables: Readonly<Record<string, string>> = {},
  ): ChildProcessWithoutNullStreams {
    const env = { ...process.env, NODE_COMPILE_CACHE: join(this.#dir, "compiled"), ...variables };
    return spawn(process.execPath, [join(this.#dir, `${name}.js`), ...args], { env });
  }

  /** A thread; the process that starts it has a compile cache of its own. */
  thread(name: "simulated-worker"): Worker {
    return new Worker(join(this.#dir, `${name}.js`), { execArgv: [] });
  }

  remove(): void {
    if (!this.#isShared) rmSync(this.#dir, { recursive: true, force: true });
  }
}
