import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "tsdown";

const ROOT = fileURLToPath(new URL("../../../../../", import.meta.url));
const HERE = fileURLToPath(new URL("./", import.meta.url));
/** What is native, or loaded only where it is needed, stays where it is. */
const APART = ["better-sqlite3", "pg", "redis", /^@opentelemetry\//];

/** The programs that are killed, each in one file: they are started by the hundred, and so start in a third of the time. */
export class Programs {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  static async build(): Promise<Programs> {
    const dir = mkdtempSync(join(tmpdir(), "trackside-programs-"));
    symlinkSync(join(ROOT, "node_modules"), join(dir, "node_modules")); // where packages that stay apart are found
    await build({
      config: false,
      cwd: ROOT,
      tsconfig: join(ROOT, "tsconfig.json"),
      entry: {
        worker: join(HERE, "worker.ts"),
        "kill-worker": join(HERE, "kill-worker.ts"),
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
    name: "worker" | "kill-worker",
    args: readonly string[] = [],
    variables: Readonly<Record<string, string>> = {},
  ): ChildProcessWithoutNullStreams {
    const env = { ...process.env, NODE_COMPILE_CACHE: join(this.#dir, "compiled"), ...variables };
    return spawn(process.execPath, [join(this.#dir, `${name}.js`), ...args], { env });
  }

  remove(): void {
    rmSync(this.#dir, { recursive: true, force: true });
  }
}
