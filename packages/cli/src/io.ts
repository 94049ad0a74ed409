import { type Readable, Writable } from "node:stream";

export type Input = Readable & { isTTY?: boolean; setRawMode?(mode: boolean): unknown };
export type Output = Writable & { isTTY?: boolean; columns?: number };

/** Where a command reads and writes: the process's own streams, or others in a test. */
export interface Io {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Aborted when nobody reads stdout any more. */
  readonly gone: AbortSignal;
}

/** The streams of this process. A reader that goes away, as `head` does, is no error. */
export function processIo(): Io {
  const gone = new AbortController();
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") process.stderr.write(`The output cannot be written: ${error.message}\n`);
    gone.abort(new Error("the output was closed"));
  });
  process.stderr.on("error", () => {}); // there is nowhere left to say it
  const { stdin, stdout, stderr, env } = process;
  return { stdin, stdout, stderr, env, cwd: process.cwd(), gone: gone.signal };
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
