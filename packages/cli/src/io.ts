import { type Readable, Writable } from "node:stream";

export type Input = Readable & { isTTY?: boolean; setRawMode?(mode: boolean): unknown };
export type Output = Writable & { isTTY?: boolean; columns?: number };

export type SignalName = "SIGINT" | "SIGTERM" | "SIGHUP";

/** Delivers the signals of the process. */
export interface Signals {
  on(name: SignalName, listener: (name: SignalName) => void): unknown;
  off(name: SignalName, listener: (name: SignalName) => void): unknown;
}

/** Everything a command has of its process. Tests give it another one, and run many commands in one process. */
export interface Io {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Aborted when the reader of stdout goes away. */
  readonly gone: AbortSignal;
  readonly signals: Signals;
  /** Ends the process at once. */
  exit(code: number): never;
  /** Changes the working directory, in which the user's modules look for files. */
  chdir(folder: string): void;
  /** Imports a module of the user by its URL. */
  importModule(url: string): Promise<Record<string, unknown>>;
}

/** Not a function of the test runner, which loads the files of this package in its own way. */
export const importModule: Io["importModule"] = (url) => import(url);

/** The streams of this process. A reader that goes away, as `head` does, is no error. */
export function processIo(): Io {
  const gone = new AbortController();
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") process.stderr.write(`The output cannot be written: ${error.message}\n`);
    gone.abort(new Error("the output was closed"));
  });
  process.stderr.on("error", () => {}); // there is nowhere left to say it
  const { stdin, stdout, stderr, env } = process;
  return {
    stdin,
    stdout,
    stderr,
    env,
    cwd: process.cwd(),
    gone: gone.signal,
    signals: process,
    exit: (code) => process.exit(code),
    chdir: (folder) => process.chdir(folder),
    importModule,
  };
}

/** Whether a person sits at both ends. */
export function isInteractive({ stdin, stdout }: Io): boolean {
  return stdin.isTTY === true && stdout.isTTY === true;
}

/**
 * Takes stdout for event lines: whatever an agent's file or a tool prints from now on goes to stderr. Returns the way to
 * write to it.
 */
export function claimStdout({ stdout, stderr }: Io): (text: string) => void {
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  return (text) => {
    write(text);
  };
}

/** Waits until everything written has left the process. */
export async function drained(io: Io): Promise<void> {
  const flushed = (stream: Output) =>
    new Promise<void>((resolve) => {
      if (stream.destroyed) resolve();
      else Writable.prototype.write.call(stream, "", "utf8", () => resolve()); // past whoever claimed the stream
    });
  await Promise.all([flushed(io.stdout), flushed(io.stderr)]);
}

/** Everything on stdin. */
export async function readAll(input: Input): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of input) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString("utf8");
}
