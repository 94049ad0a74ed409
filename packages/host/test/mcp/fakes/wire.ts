import { writeSync } from "node:fs";
import { createInterface } from "node:readline";

/**
 * Just enough MCP over stdio to be an honest server of the 2025 era, written without any SDK, so that a fake can break
 * each rule on purpose. What a fake does wrong stands in its own file.
 *
 * Every fake is started as `node <fake>.ts <mark> [state file]`: the mark finds its processes afterwards.
 */
export const stateFile = process.argv[3] ?? "";

export type Params = Record<string, unknown>;

export interface Request {
  readonly id: string | number;
  readonly method: string;
  readonly params: Params;
  /** What progress of this request is reported under, if the client asked for it. */
  readonly progressToken: string | number | undefined;
}

/** Answers with what it returns; `SILENCE` answers nothing, ever. What it throws becomes a protocol error. */
export type Handler = (params: Params, request: Request) => unknown;

export const SILENCE = Symbol("no answer");

export interface FakeTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: unknown;
  readonly [more: string]: unknown;
}

export interface Fake {
  readonly tools?: readonly FakeTool[];
  readonly calls?: Readonly<Record<string, Handler>>;
  /** Replaces or adds whole methods, notifications too. */
  readonly methods?: Readonly<Record<string, Handler>>;
  readonly capabilities?: Params;
}

const NO_ARGUMENTS = { type: "object", properties: {} };

export const tool = (name: string, inputSchema: unknown = NO_ARGUMENTS): FakeTool => ({
  name,
  description: `What ${name} does.`,
  inputSchema,
});

export const text = (words: string) => ({ content: [{ type: "text", text: words }] });

/** Written at once, also when the pipe is full: a fake that exits next has said what it wanted to say. */
export function write(bytes: string): void {
  const data = Buffer.from(bytes);
  let at = 0;
  while (at < data.length) {
    try {
      at += writeSync(1, data, at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") process.exit(0); // nobody reads any more
    }
  }
}

export const send = (message: object): void => write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

export const notify = (method: string, params: Params = {}): void => send({ method, params });

const asked = new Map<string, (answer: Params) => void>();
let questions = 0;

/** Asks the client, and waits for its answer, which is a `result` or an `error`. */
export function ask(method: string, params: Params): Promise<Params> {
  const id = `q${++questions}`;
  send({ id, method, params });
  return new Promise((resolve) => asked.set(id, resolve));
}

export function serve(fake: Fake): void {
  const methods: Record<string, Handler> = {
    initialize: (params) => ({
      protocolVersion: params["protocolVersion"],
      capabilities: fake.capabilities ?? { tools: { listChanged: true } },
      serverInfo: { name: "fake", version: "1.0.0" },
    }),
    ping: () => ({}),
    "tools/list": () => ({ tools: fake.tools ?? [] }),
    "tools/call": (params, request) => {
      const handler = fake.calls?.[String(params["name"])];
      if (handler === undefined) throw new Error(`no tool ${String(params["name"])}`);
      return handler((params["arguments"] ?? {}) as Params, request); // an object by the protocol
    },
    ...fake.methods,
  };

  const receive = async (line: string): Promise<void> => {
    const message = JSON.parse(line) as Params;
    const { id, method } = message;
    if (typeof method !== "string") {
      asked.get(String(id))?.(message);
      asked.delete(String(id));
      return;
    }
    const params = (message["params"] ?? {}) as Params;
    const handler = methods[method];
    if (typeof id !== "string" && typeof id !== "number") {
      handler?.(params, { id: "", method, params, progressToken: undefined });
      return;
    }
    if (handler === undefined) {
      send({ id, error: { code: -32601, message: `Method not found: ${method}` } });
      return;
    }
    const meta = params["_meta"] as { progressToken?: string | number } | undefined;
    try {
      const result = await handler(params, { id, method, params, progressToken: meta?.progressToken });
      if (result !== SILENCE) send({ id, result });
    } catch (error) {
      send({ id, error: { code: -32000, message: error instanceof Error ? error.message : String(error) } });
    }
  };

  createInterface({ input: process.stdin }).on("line", (line) => void receive(line));
}
