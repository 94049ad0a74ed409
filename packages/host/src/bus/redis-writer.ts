import { setTimeout as sleep } from "node:timers/promises";
import type { BusItem, Committed, Wake } from "./bus.ts";
import type { MemoryBus } from "./memory.ts";
import type { Reader } from "./reader.ts";
import { encodeEntry, type Fields } from "./redis-entry.ts";
import type { Keys } from "./redis-keys.ts";
import { type Client, type Session, type SessionTools, within } from "./redis-session.ts";

const ANSWER_MS = 5000;
const RUNS_AT_ONCE = 256;
/** After so many entries the open messages are written once more in one piece, and the entries before it removed. */
const ENTRIES_KEPT = 128;
/** Where several processes write to a run, none of them can know what the others still need. */
const MAX_ENTRIES = 1024;
const MAX_WAKES = 64;
/** Readers of a run that has ended may still be on their way. */
const FINISHED_TTL_MS = 60_000;

/** What others have to be told about one run. Text is not kept here: it is read from the memory bus when it can be sent. */
interface Outgoing {
  readonly text: Reader;
  committed: number | undefined;
  readonly wakes: Set<string>;
  finished: boolean;
  /** Entries written so far, and since everything was last written in one piece. */
  n: number;
  sincePiece: number;
}

/**
 * Writes what this process publishes to Redis, a few milliseconds' worth at a time. It is one more reader of the memory
 * bus, and where Redis is slow or away, a slow one: nothing piles up, and what it missed goes out in one piece.
 */
export class RedisWriter {
  readonly #memory: MemoryBus;
  readonly #keys: Keys;
  readonly #id: string;
  readonly #flushMs: number;
  readonly #runs = new Map<string, Outgoing>();
  readonly #dirty = new Set<string>();
  #bell = false;
  #wake: (() => void) | undefined;
  #writing = 0;

  constructor(memory: MemoryBus, keys: Keys, { id, flushMs }: { id: string; flushMs: number }) {
    this.#memory = memory;
    this.#keys = keys;
    this.#id = id;
    this.#flushMs = flushMs;
  }

  publish(runId: string, item: BusItem): void {
    const run = this.#run(runId);
    addSignal(run, item);
    this.#mark(runId);
  }

  finish(runId: string): void {
    this.#run(runId).finished = true;
    this.#mark(runId);
  }

  /** Makes the reader of this bus look at what it should follow. */
  ring(): void {
    this.#bell = true;
    this.#wake?.();
  }

  /** Everything that is known goes out again on a new connection: the server may have lost it. */
  readonly session: Session = async (client, tools) => {
    const { signal, alive } = tools;
    for (const [runId, run] of this.#runs) {
      run.text.rewind();
      this.#dirty.add(runId);
    }
    for (;;) {
      if (this.#dirty.size === 0 && !this.#bell) await this.#marked(signal);
      if (this.#dirty.size <= RUNS_AT_ONCE) await sleep(this.#flushMs, undefined, { signal });
      await within(ANSWER_MS, this.#flush(client, tools), signal);
      alive();
    }
  };

  /** When all is written that was published, or when the time is up. */
  async idle(ms: number): Promise<void> {
    const until = Date.now() + ms;
    while ((this.#dirty.size > 0 || this.#writing > 0) && Date.now() < until) await sleep(1);
  }

  /** Nothing happened in this run for long. */
  forget(runId: string): void {
    this.#runs.get(runId)?.text.close();
    this.#runs.delete(runId);
    this.#dirty.delete(runId);
  }

  async #flush(client: Client, tools: SessionTools): Promise<void> {
    const commands: Promise<unknown>[] = [];
    if (this.#bell) {
      this.#bell = false;
      commands.push(this.#ring(client));
    }
    for (const runId of [...this.#dirty].slice(0, RUNS_AT_ONCE)) {
      this.#dirty.delete(runId);
      const run = this.#runs.get(runId);
      if (run !== undefined) commands.push(this.#write(client, runId, run, tools));
    }
    this.#writing = commands.length;
    const done = await Promise.allSettled(commands);
    this.#writing = 0;
    for (const one of done) {
      // The server refused one entry: readers see that its number is missing. Anything else is the connection's end.
      if (one.status === "rejected" && !tools.isRefusal(one.reason)) throw one.reason;
    }
  }

  async #write(client: Client, runId: string, run: Outgoing, { isRefusal }: SessionTools): Promise<void> {
    const key = this.#keys.run(runId);
    const { finished } = run;
    const whole = !finished && run.sincePiece >= ENTRIES_KEPT && run.text.hasLocal;
    if (whole) run.text.rewind();
    const items = finished ? [] : [...run.text.drain()];
    const signals = takeSignals(runId, run);
    items.push(...signals);
    if (items.length === 0 && !finished) return;
    // What is published after the end begins anew.
    if (finished) this.forget(runId);

    run.n += 1;
    run.sincePiece = whole ? 0 : run.sincePiece + 1;
    const entry = encodeEntry({ by: this.#id, n: run.n, items, finished });
    try {
      await this.#send(client, key, entry, { whole, finished });
    } catch (error) {
      // Text is read again on the next connection; signals are not kept anywhere else.
      if (!isRefusal(error)) for (const signal of signals) addSignal(this.#run(runId), signal);
      throw error;
    }
    // Nothing is left to say, perhaps ever: a run that goes on begins to count again.
    const silent = !run.text.hasLocal && !this.#dirty.has(runId);
    if (silent && this.#runs.get(runId) === run) this.forget(runId);
  }

  async #send(
    client: Client,
    key: string,
    entry: Fields,
    { whole, finished }: { whole: boolean; finished: boolean },
  ): Promise<void> {
    const TRIM = { strategy: "MAXLEN", strategyModifier: "~", threshold: MAX_ENTRIES } as const;
    const written = client.xAdd(key, "*", entry, { TRIM });
    const expiry = client.pExpire(key, finished ? FINISHED_TTL_MS : this.#memory.limits.ttlMs);
    const [id] = await Promise.all([written, expiry]);
    if (whole || finished) await client.xTrim(key, "MINID", id);
  }

  async #ring(client: Client): Promise<void> {
    const key = this.#keys.bell(this.#id);
    const TRIM = { strategy: "MAXLEN", threshold: 1 } as const;
    await Promise.all([client.xAdd(key, "*", { at: "" }, { TRIM }), client.pExpire(key, FINISHED_TTL_MS)]);
  }

  #run(runId: string): Outgoing {
    let run = this.#runs.get(runId);
    if (run === undefined) {
      const text = this.#memory.read(runId, { seq: 0 }, { localOnly: true });
      run = { text, committed: undefined, wakes: new Set(), finished: false, n: 0, sincePiece: 0 };
      this.#runs.set(runId, run);
    }
    return run;
  }

  #mark(runId: string): void {
    this.#dirty.add(runId);
    this.#wake?.();
  }

  #marked(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = () => {
        signal.removeEventListener("abort", end);
        this.#wake = undefined;
        if (signal.aborted) reject(signal.reason);
        else resolve();
      };
      signal.addEventListener("abort", end);
      this.#wake = end;
    });
  }
}

function addSignal(run: Outgoing, item: BusItem): void {
  if (item.type === "committed") run.committed = Math.max(run.committed ?? 0, item.seq);
  else if (item.type === "wake" && run.wakes.size < MAX_WAKES) run.wakes.add(item.what);
}

function takeSignals(runId: string, run: Outgoing): (Committed | Wake)[] {
  const signals: (Committed | Wake)[] = [];
  if (run.committed !== undefined) signals.push({ type: "committed", run_id: runId, seq: run.committed });
  for (const what of run.wakes) signals.push({ type: "wake", run_id: runId, what });
  run.committed = undefined;
  run.wakes.clear();
  return signals;
}
