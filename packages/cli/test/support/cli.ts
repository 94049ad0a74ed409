import { AsyncLocalStorage } from "node:async_hooks";
import { spawn, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { format } from "node:util";
import { temporaryFolder } from "../../../../scripts/testing/temporary-folder.ts";
import type { Io, SignalName } from "../../src/io.ts";
import { Heard } from "./heard.ts";
import { main, testIo } from "./test-io.ts";

/** A command that is still there after this hangs. Starting a process takes seconds where others are at work. */
const PATIENCE_MS = 120_000;
/** A process that a test has left gets this long to end by itself. */
const KILL_MS = 10_000;

export const root = resolve(import.meta.dirname, "../../../..");
const bin = join(root, "packages/cli/src/bin.ts");

/** The command as it is run from source. */
const program = [process.execPath, "--conditions=@trackside/source", bin] as const;

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
  const path = join(temporaryFolder("cli"), name);
  writeFileSync(path, text);
  return path;
}

/** An address with no server. A port that was free a moment ago may be that of another test's server now; this one is never. */
export const noServer = "http://127.0.0.1:2/v1";

const NOISE = /_API_KEY$|_BASE_URL$|^TEMPORAL_|^TRACKSIDE_|^(NO_COLOR|FORCE_COLOR|NODE_OPTIONS|CI)$/;

const MODEL_SERVERS = { OLLAMA_BASE_URL: noServer, LMSTUDIO_BASE_URL: noServer };

// Models are made with the environment of the process.
for (const name of Object.keys(process.env)) if (/_API_KEY$|_BASE_URL$/.test(name)) delete process.env[name];
Object.assign(process.env, MODEL_SERVERS);

/** No keys, no colours asked for or refused, and no model server but those a test starts. */
function cleanEnvironment(extra: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(process.env).flatMap(([name, value]) =>
    value === undefined || NOISE.test(name) ? [] : [[name, value] as const],
  );
  return {
    ...Object.fromEntries(kept),
    ...MODEL_SERVERS,
    EDITOR: "",
    VISUAL: "",
    ...extra,
  };
}

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface StartOptions {
  readonly input?: string;
  /** Leaves stdin open after the input. A terminal's always is. */
  readonly keepStdin?: boolean;
  /** stdin and stdout are a terminal, 90 columns wide. Everything shown is on `stdout`. */
  readonly terminal?: boolean;
  /** Starts the program as a process of its own, where the process is the point. Else it runs in this one. */
  readonly process?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Called with each complete line on stderr. */
  readonly onErrorLine?: (line: string, running: Running) => void;
}

/** A command under way. */
export interface Running {
  readonly stdout: string;
  readonly stderr: string;
  /** Waits for a text on stdout, after what earlier calls waited for. */
  see(text: string | RegExp): Promise<string>;
  /** Waits until `find` answers something; it is asked whenever there is more output. */
  until<T>(find: () => T | undefined, wanted: string): Promise<T>;
  /** Writes to stdin. */
  type(text: string): void;
  signal(name: SignalName | "SIGKILL"): void;
  /** Stops to read stdout. */
  hangUp(): void;
  readonly ended: Promise<Finished>;
}

/** One end of a command, in this process or in another. */
interface Launched extends Pick<Running, "type" | "signal" | "hangUp"> {
  readonly heard: Heard;
  readonly code: Promise<number | null>;
  endInput(): void;
}

const underWay = new Map<Running, () => void>();

/** Ends the commands that a test has left under way. `setup.ts` calls it after each test. */
export async function endCommands(): Promise<void> {
  for (const end of underWay.values()) end();
  await Promise.all([...underWay.keys()].map(({ ended }) => ended));
  process.chdir(root); // a command in this process may have left it
}

/** Runs a command to its end. */
export async function cli(args: readonly string[], options: StartOptions = {}): Promise<Finished> {
  return start(args, options).ended;
}

export function start(args: readonly string[], options: StartOptions = {}): Running {
  const launched = options.process ? inOwnProcess(args, options) : inThisProcess(args, options);
  const { heard, code, type, signal, hangUp } = launched;
  const running: Running = {
    get stdout() {
      return heard.stdout;
    },
    get stderr() {
      return heard.stderr;
    },
    see: (text) => heard.see(text),
    until: (find, wanted) => heard.until(find, wanted),
    type,
    signal,
    hangUp,
    ended: code.then((ended) => {
      underWay.delete(running);
      heard.ended(`it ended (${ended})`);
      return { code: ended, stdout: heard.stdout, stderr: heard.stderr };
    }),
  };
  underWay.set(running, () => {
    launched.endInput();
    signal("SIGTERM"); // with it a command also ends what it has started
    if (options.process) setTimeout(signal, KILL_MS, "SIGKILL").unref();
  });
  if (options.onErrorLine !== undefined) void tellLines(running, options.onErrorLine);
  if (options.input !== undefined) type(options.input);
  if (options.terminal !== true && options.keepStdin !== true) launched.endInput();
  return running;
}

async function tellLines(running: Running, tell: NonNullable<StartOptions["onErrorLine"]>): Promise<void> {
  for (let told = 0; ; ) {
    const end = await running
      .until(() => {
        const at = running.stderr.indexOf("\n", told);
        return at < 0 ? undefined : at;
      }, "a line")
      .catch(() => -1); // it has ended
    if (end < 0) return;
    tell(running.stderr.slice(told, end), running);
    told = end + 1;
  }
}

/** The command that is at work, for what its modules print. */
const current = new AsyncLocalStorage<Io>();
for (const [name, stream] of [
  ["log", "stdout"],
  ["error", "stderr"],
] as const) {
  const print = console[name];
  console[name] = (...args: unknown[]) => {
    const io = current.getStore();
    if (io === undefined) print(...args);
    else io[stream].write(`${format(...args)}\n`);
  };
}

const warned = process.listeners("warning");
process.removeAllListeners("warning");
process.on("warning", (warning) => {
  const isOurs = /^Trackside(Notice|Warning)$/.test(warning.name);
  const stderr = isOurs ? current.getStore()?.stderr : undefined;
  if (stderr !== undefined) stderr.write(`! ${warning.message}\n`);
  else for (const listener of warned) listener(warning);
});

/** Modules of a command read the environment and the working folder of the process, so it gets those of the command. */
function inThisProcess(args: readonly string[], options: StartOptions): Launched {
  const { cwd = root, terminal = false, env: extra = {} } = options;
  const env = cleanEnvironment({ ...(terminal ? { TERM: "xterm-256color" } : {}), ...extra });
  const { promise: exited, resolve: exit } = Promise.withResolvers<number>();
  const { io, heard, type, signal, endInput, hangUp } = testIo({ terminal, env, cwd, exit });
  Object.assign(process.env, extra);
  process.chdir(cwd);
  const code = Promise.race([exited, current.run(io, () => main(args, io))]).finally(() => {
    for (const name of Object.keys(extra)) delete process.env[name];
    Object.assign(process.env, MODEL_SERVERS);
  });
  return {
    heard,
    code,
    type,
    endInput,
    hangUp,
    signal: (name) => {
      if (name === "SIGKILL") throw new Error("only a process of its own can be killed");
      signal(name);
    },
  };
}

const SCRIPT = "script";

/** The reason that there is no real terminal to test on, if so. */
export const noTerminal: string | undefined =
  process.platform !== "linux" || spawnSync(SCRIPT, ["--version"]).status !== 0
    ? "needs `script` of util-linux (apt-get install bsdutils)"
    : undefined;

function inOwnProcess(args: readonly string[], options: StartOptions): Launched {
  const { cwd = root, terminal = false, env = {} } = options;
  const quoted = [...program, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  const [node, ...flags] = program;
  const [file, given] = terminal
    ? [SCRIPT, ["-qec", `stty cols 90 rows 40; exec ${quoted}`, "/dev/null"]]
    : [node, [...flags, ...args]];
  const child = spawn(file, given, {
    cwd,
    env: cleanEnvironment({ ...(terminal ? { TERM: "xterm-256color" } : {}), ...env }),
    timeout: PATIENCE_MS,
  });
  const heard = new Heard();
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => heard.wrote(name, text));
  child.stdin.on("error", () => {}); // it may end before it has read everything
  const { promise: code, resolve, reject } = Promise.withResolvers<number | null>();
  child.once("error", reject);
  child.once("close", resolve);
  return {
    heard,
    code,
    type: (text) => void child.stdin.write(text),
    endInput: () => void child.stdin.end(),
    hangUp: () => void child.stdout.destroy(),
    signal: (name) => void child.kill(name),
  };
}
