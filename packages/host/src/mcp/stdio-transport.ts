import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from "@modelcontextprotocol/client";
import { LineReader } from "./line-reader.ts";
import { type Command, ServerProcess } from "./server-process.ts";
import { isObject } from "./untrusted-json.ts";
import { noAnswer } from "./wire.ts";

/** How much of what is not the protocol is kept, to be shown when a connection fails. */
const MAX_NOISE = 200;

/**
 * Speaks to a process over its input and output, a message a line. The SDK's own has no process group, joins buffers
 * again with every chunk, and loses what a server that cannot start has to say.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #command: Command;
  readonly #lines: LineReader;
  readonly #maxBytes: number;
  readonly #received: (bytes: number) => void;
  #process: ServerProcess | undefined;
  #fault: string | undefined;
  #noise = "";
  #closed = false;

  constructor(
    command: Command,
    maxMessageBytes: number,
    received: (bytes: number) => void = () => undefined,
  ) {
    this.#command = command;
    this.#lines = new LineReader(maxMessageBytes);
    this.#maxBytes = maxMessageBytes;
    this.#received = received;
  }

  /** The client takes what has a pid and a stderr for a process, and negotiates as one does with these. */
  get pid(): number | null {
    return this.#process?.pid ?? null;
  }

  get stderr(): readonly string[] {
    return this.#process?.stderr.lines ?? [];
  }

  /** Why it ended, if it did not do so on our wish. */
  get fault(): string | undefined {
    return this.#fault;
  }

  /** The first thing on its output that was no message, if there was one. */
  get noise(): string {
    return this.#noise;
  }

  async start(): Promise<void> {
    const running = await ServerProcess.start(this.#command);
    this.#process = running;
    running.stdout.on("data", (chunk: Buffer) => this.#read(chunk));
    running.onExit(() => {
      if (!this.#closed) this.#fault ??= running.ended;
      this.#leave();
    });
    running.onHalfClosed((what) => this.fail(what));
    if (this.#closed) await running.end(); // closed while it started
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#process?.stdin;
    if (this.#closed || !stdin?.writable) throw new Error(this.#fault ?? "the connection is closed");
    // Whoever asks and asks and never reads an answer would fill our memory with them.
    if (stdin.writableLength > this.#maxBytes) this.fail("does not read its input");
    const written = new Promise<void>((resolve, reject) => {
      stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
    });
    await written;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#process?.end();
    this.#leave();
  }

  /** Whether our own process should stay up for this connection. */
  hold(needed: boolean): void {
    this.#process?.hold(needed);
  }

  #read(chunk: Buffer): void {
    if (this.#closed) return;
    this.#received(chunk.length);
    try {
      for (const line of this.#lines.add(chunk)) {
        if (this.#closed) return; // somebody heard enough
        this.#deliver(line);
      }
    } catch (error) {
      this.fail(error instanceof Error ? error.message : String(error));
    }
  }

  /** Ends the connection for a reason that its calls are told. */
  fail(fault: string): void {
    if (this.#closed) return;
    this.#fault = fault;
    this.#closed = true;
    void this.#process?.kill();
    this.#leave();
  }

  #deliver(line: string): void {
    const message = readLine(line);
    if (message === null) {
      // Programs print things; what is lost by it is found by a deadline.
      if (this.#noise === "") this.#noise = line.trim().slice(0, MAX_NOISE);
      return;
    }
    try {
      this.onmessage?.(message);
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #leave(): void {
    this.#closed = true;
    const left = this.onclose;
    delete this.onclose; // once
    left?.();
  }
}

/** A message; an answer that is none, as an error, so that nobody waits for a better one; or nothing. */
function readLine(line: string): JSONRPCMessage | null {
  let raw: unknown;
  try {
    raw = JSON.parse(line);
    return parseJSONRPCMessage(raw);
  } catch {
    if (!isObject(raw) || "method" in raw || !("result" in raw || "error" in raw)) return null;
    const { id } = raw;
    if (typeof id !== "number" && typeof id !== "string") return null;
    return noAnswer(id, "its answer is neither a result nor an error of JSON-RPC");
  }
}
