import { EventEmitter } from "node:events";
import { createRequire } from "node:module";
import { PassThrough, Writable } from "node:stream";
import type { Input, Io, Output, SignalName } from "../../src/io.ts";
import { Heard } from "./heard.ts";

/** Loaded by Node itself, as the command is, and not by the test runner: errors of modules are part of what is tested. */
const native = createRequire(import.meta.url);
export const { main } = native("../../src/main.ts") as typeof import("../../src/main.ts");
const { importModule } = native("../../src/io.ts") as typeof import("../../src/io.ts");

export interface TestIoOptions {
  readonly terminal?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Called in place of ending the process. */
  readonly exit?: (code: number) => void;
}

/** Thrown in place of ending the process. */
class Exit extends Error {}

let imported = 0;

/** The `Io` of a command that runs in the test's own process, and the other ends of it. */
export function testIo({ terminal = false, env = {}, cwd = "/", exit = () => {} }: TestIoOptions = {}) {
  const heard = new Heard();
  const signals = new EventEmitter();
  const gone = new AbortController();
  const raw: boolean[] = [];
  const keys = new PassThrough();
  const stdin: Input = Object.assign(keys, {
    isTTY: terminal,
    setRawMode: (mode: boolean) => raw.push(mode),
  });
  const into = (name: "stdout" | "stderr"): Output =>
    Object.assign(
      new Writable({
        write(chunk, _, done) {
          // A terminal shows both.
          heard.wrote(terminal ? "stdout" : name, String(chunk));
          done();
        },
      }),
      { isTTY: terminal, columns: 90 },
    );
  const io: Io = {
    stdin,
    stdout: into("stdout"),
    stderr: into("stderr"),
    env,
    cwd,
    gone: gone.signal,
    signals,
    exit: (code) => {
      exit(code);
      throw new Exit();
    },
    chdir: (folder) => process.chdir(folder),
    // Each command loads modules anew, as each process does.
    importModule: (url) => importModule(`${url}?${++imported}`),
  };
  const signal = (name: SignalName) => {
    try {
      signals.emit(name, name);
    } catch (error) {
      if (!(error instanceof Exit)) throw error;
    }
  };
  return {
    io,
    heard,
    raw,
    signal,
    /** Keys as a terminal delivers them: Ctrl-C is a signal where a program reads no single keys. */
    type: (text: string) => {
      if (terminal && raw.at(-1) !== true && text === "\x03") signal("SIGINT");
      else keys.write(text);
    },
    endInput: () => void keys.end(),
    /** The reader of stdout goes away. */
    hangUp: () => gone.abort(new Error("the output was closed")),
  };
}
