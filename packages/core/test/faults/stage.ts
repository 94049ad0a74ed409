import { setTimeout as sleep } from "node:timers/promises";
import {
  Agent,
  type AgentEvent,
  defineTool,
  type Engine,
  type LanguageModel,
  localEngine,
  type RunResult,
  type RunStream,
  type Tool,
  TracksideError,
} from "trackside";
import { vi } from "vitest";
import { modelAt, type OverWire } from "../support/over-wire.ts";
import {
  startWireServer,
  type WireReply,
  type WireRequest,
  type WireServer,
} from "../support/wire-server.ts";

/** A run as it was seen from outside: by its reader, by the provider's server, by its tool. */
export type Played = {
  events: AgentEvent[];
  result?: RunResult;
  error?: TracksideError & { result?: RunResult };
  /** What reached the server, and when (ms). */
  requests: WireRequest[];
  times: number[];
  /** The arguments of every execution of the tool `book`. */
  executed: unknown[];
};

export type PlayOptions = {
  engine?: Engine;
  maxSteps?: number;
  onEvent?: (event: AgentEvent, stream: Cancellable) => void;
  /** A request has reached the server. */
  onRequest?: (stream: Cancellable) => void;
};

type Cancellable = Pick<RunStream<string, []>, "cancel">;

/** Retries as always, only sooner. */
export const HURRIED = { retries: 3, baseMs: 1, maxMs: 2 };

const HANGS_AFTER_MS = 60_000;
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

/**
 * A real provider package in front of a scripted server, for many runs at once: each run carries its number in its input,
 * by which the server finds the run's own replies.
 */
export class Stage {
  readonly provider: string;
  readonly wire: OverWire["wire"];
  readonly model: LanguageModel;
  readonly server: WireServer;
  readonly #acts: Act[];
  readonly #engine = localEngine({ retry: HURRIED });
  readonly #book: Tool;

  private constructor(over: OverWire, model: LanguageModel, server: WireServer, acts: Act[]) {
    this.provider = over.provider;
    this.wire = over.wire;
    this.model = model;
    this.server = server;
    this.#acts = acts;
    this.#book = defineTool({
      name: "book",
      description: "Books",
      // Takes any object: what reaches it is what the loop let through, not what a schema caught.
      input: { type: "object" },
      execute: (args, { scope }) => {
        acts[Number(scope.act)]?.executed.push(args);
        return { booked: true };
      },
    });
  }

  static async open(over: OverWire): Promise<Stage> {
    const acts: Act[] = [];
    const server = await startWireServer((_, request) => {
      const act = acts[numberIn(request)];
      if (act === undefined) return unscripted("of no run");
      act.requests.push(request);
      act.times.push(performance.now());
      act.onRequest?.();
      return act.replies[act.requests.length - 1] ?? unscripted(`number ${act.requests.length}`);
    });
    return new Stage(over, await modelAt(over.provider, server), server, acts);
  }

  /** Streams one turn whose model requests get these replies, in order; one request more is an error. */
  async play(replies: WireReply[], options: PlayOptions = {}): Promise<Played> {
    const { act, agent, input, runOptions } = this.#set(replies, options);
    const stream = agent.stream(input, runOptions);
    act.onRequest = () => options.onRequest?.(stream);
    const events: AgentEvent[] = [];
    const reading = (async () => {
      for await (const event of stream) {
        events.push(event);
        options.onEvent?.(event, stream);
      }
    })();
    await bounded(reading, input);
    return ended(stream.result, act, events);
  }

  /** The same by `run()`, which shows no events. */
  run(replies: WireReply[], options: PlayOptions = {}): Promise<Played> {
    const { act, agent, input, runOptions } = this.#set(replies, options);
    return ended(agent.run(input, runOptions), act, []);
  }

  #set(replies: WireReply[], { engine = this.#engine, maxSteps = 20 }: PlayOptions) {
    const act: Act = { replies, requests: [], times: [], executed: [] };
    const number = this.#acts.push(act) - 1;
    const agent = new Agent({ name: "traveller", model: this.model, tools: [this.#book], maxSteps });
    return { act, agent, input: `run <${number}>`, runOptions: { engine, scope: { act: number } } };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.close();
  }
}

type Act = Pick<Played, "requests" | "times" | "executed"> & { replies: WireReply[]; onRequest?: () => void };

function ended(result: Promise<RunResult>, act: Act, events: AgentEvent[]): Promise<Played> {
  const { requests, times, executed } = act;
  const played: Played = { events, requests, times, executed };
  const ending = result.then(
    (value) => ({ ...played, result: value }),
    (error: unknown) => {
      if (error instanceof TracksideError) return { ...played, error };
      throw error;
    },
  );
  return bounded(ending, "the result of a run");
}

function numberIn(request: WireRequest): number {
  return Number(/run <(\d+)>/.exec(JSON.stringify(request.body))?.[1]);
}

function unscripted(what: string): WireReply {
  const message = `a request ${what} came, which was not expected`;
  return { status: 400, body: { type: "error", error: { type: "unscripted", message } } };
}

/** Fails with a name instead of letting the test run into its timeout. */
export async function bounded<T>(promise: Promise<T>, what: string, ms = HANGS_AFTER_MS): Promise<T> {
  const stop = new AbortController();
  const late = sleep(ms, undefined, { signal: stop.signal }).then(() => {
    throw new Error(`${what} hangs: nothing after ${ms} ms`);
  });
  late.catch(() => {});
  try {
    return await Promise.race([promise, late]);
  } finally {
    stop.abort();
  }
}

/** Does something with every item, a few at a time. */
export async function forEach<T>(
  items: Iterable<T>,
  visit: (item: T) => Promise<void>,
  atOnce = 24,
): Promise<void> {
  const left = items[Symbol.iterator]();
  const worker = async () => {
    for (let next = left.next(); !next.done; next = left.next()) await visit(next.value);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

export function range(length: number): number[] {
  return Array.from({ length }, (_, n) => n);
}
