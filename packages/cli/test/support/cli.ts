import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { vi } from "vitest";

/** A process that is still there after this hangs. Starting one takes seconds where others are at work. */
export const PATIENCE_MS = 120_000;
vi.setConfig({ testTimeout: PATIENCE_MS + 30_000, hookTimeout: PATIENCE_MS });

export const root = resolve(import.meta.dirname, "../../../..");
const bin = join(root, "packages/cli/src/bin.ts");

/** The command as it is run from source. */
export const command = [process.execPath, "--conditions=@trackside/source", bin] as const;

const fixtures = {
  calculator: import.meta.resolve("../fixtures/calculator.ts"),
  counter: import.meta.resolve("../fixtures/counter.ts"),
  failing: import.meta.resolve("../fixtures/failing.ts"),
  gated: import.meta.resolve("../fixtures/gated.ts"),
  hostile: import.meta.resolve("../fixtures/hostile.ts"),
  late: import.meta.resolve("../fixtures/late.ts"),
  memory: import.meta.resolve("../fixtures/memory.ts"),
  pinger: import.meta.resolve("../fixtures/pinger.json"),
  slow: import.meta.resolve("../fixtures/slow.ts"),
  stubborn: import.meta.resolve("../fixtures/stubborn.ts"),
  tools: import.meta.resolve("../fixtures/tools.ts"),
  alone: import.meta.resolve("../fixtures/alone.ts"),
  wrong: import.meta.resolve("../fixtures/wrong.ts"),
};

export function fixture(name: keyof typeof fixtures): string {
  return fileURLToPath(fixtures[name]);
}

/** A file of the test's own, outside the project. */
export function temporaryFile(name: string, text: string): string {
  const path = join(mkdtempSync(join(tmpdir(), "trackside-cli-")), name);
  writeFileSync(path, text);
  return path;
}

/** Where nobody listens. A port that was free a moment ago may be that of another test's server now; this one is never. */
export const nobody = "http://127.0.0.1:2/v1";

/** No keys, no colours asked for or refused, and no model server but those a test starts. */
export function cleanEnvironment(extra: Record<string, string> = {}): Record<string, string> {
  const noise = /_API_KEY$|_BASE_URL$|^TEMPORAL_|^TRACKSIDE_|^(NO_COLOR|FORCE_COLOR|NODE_OPTIONS|CI)$/;
  const kept = Object.entries(process.env).flatMap(([name, value]) =>
    value === undefined || noise.test(name) ? [] : [[name, value] as const],
  );
  return {
    ...Object.fromEntries(kept),
    OLLAMA_BASE_URL: nobody,
    LMSTUDIO_BASE_URL: nobody,
    // Every test starts the command anew, and stripping the types of the whole source is most of that.
    NODE_COMPILE_CACHE: join(tmpdir(), "trackside-cli-compile-cache"),
    ...extra,
  };
}

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly input?: string;
  /** Leaves stdin open, for what `onErrorLine` writes. */
  readonly keepStdin?: boolean;
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  /** Called with everything on stdout so far, whenever there is more. */
  readonly onStdout?: (text: string, child: ChildProcess) => void;
  /** Called with each complete line on stderr. */
  readonly onErrorLine?: (line: string, child: ChildProcess) => void;
}

/** Runs the real command, without a terminal, to its end. */
export function cli(args: readonly string[], options: CliOptions = {}): Promise<Finished> {
  const [node, ...flags] = command;
  const child = spawn(node, [...flags, ...args], {
    cwd: options.cwd ?? root,
    env: cleanEnvironment(options.env),
    timeout: PATIENCE_MS,
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    options.onStdout?.(stdout, child);
  });
  let told = 0;
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    for (let end = stderr.indexOf("\n", told); end >= 0; end = stderr.indexOf("\n", told)) {
      const line = stderr.slice(told, end);
      told = end + 1;
      options.onErrorLine?.(line, child);
    }
  });
  child.stdin.on("error", () => {}); // it may end before it has read everything
  if (options.keepStdin) child.stdin.write(options.input ?? "");
  else child.stdin.end(options.input ?? "");
  return new Promise((done, failed) => {
    child.on("error", failed);
    child.on("close", (code) => done({ code, stdout, stderr }));
  });
}
