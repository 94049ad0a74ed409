import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterwards } from "./places.ts";

export interface Child {
  readonly pid: number;
  /** The next line it prints. Fails when it ends first. */
  line(): Promise<string>;
  say(text: string): void;
  signal(name: NodeJS.Signals): void;
  /** Its exit code. */
  readonly ended: Promise<number | null>;
}

export interface ChildOptions {
  readonly uid?: number;
  /** No file it writes may grow beyond this, in the shell's blocks of 512 bytes. */
  readonly fileBlocks?: number;
}

/** Runs a program of this folder as a process of its own. It ends with the test, at the latest. */
export function child(program: string, args: readonly string[], options: ChildOptions = {}): Child {
  const script = fileURLToPath(new URL(program, import.meta.url));
  const { fileBlocks, ...rest } = options;
  const node = [process.execPath, "--conditions=@trackside/source", script, ...args];
  const limit = fileBlocks === undefined ? "" : `ulimit -f ${fileBlocks}; `;
  const process_ = spawn("sh", ["-c", `${limit}exec "$0" "$@"`, ...node], {
    stdio: ["pipe", "pipe", "pipe"],
    ...rest,
  });
  let errors = "";
  process_.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const lines = createInterface({ input: process_.stdout })[Symbol.asyncIterator]();
  const ended = once(process_, "exit").then(([code]) => code as number | null); // what the event carries
  afterwards(async () => {
    process_.kill("SIGKILL");
    await ended;
  });
  return {
    pid: process_.pid ?? -1,
    async line() {
      const next = await lines.next();
      if (next.done) throw new Error(`${program} ended without another word: ${errors}`);
      return next.value;
    },
    say: (text) => process_.stdin.write(`${text}\n`),
    signal: (name) => process_.kill(name),
    ended,
  };
}
